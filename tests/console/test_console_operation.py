"""Telemetry health, jobs and the audit log in the console."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from html import unescape
from typing import Any

from console_builders import NOW, Stage, report
from flask.testing import FlaskClient
from sqlalchemy import text as sql
from sqlmodel import Session

from service import clock
from service.console.audit import PAGE_SIZE
from service.console.watching import HEADER
from service.store import audit, job_runs, tallies
from service.store.tables import JobRunRow, RolledDayRow
from tests.console.test_console_changes import assert_only_text, read
from tests.console.test_console_pages import HOSTILE


def tally(stage: Stage, days_ago: int, **counts: int) -> None:
    named = {
        "accepted": ("accepted", ""),
        "duplicate": ("duplicate", ""),
        "impossible": ("set-aside", "latency-impossible"),
        "unknown": ("rejected", "unknown-report"),
    }
    with Session(stage.engine) as session, session.begin():
        found = {named[name]: number for name, number in counts.items()}
        tallies.add(session, clock.now() - timedelta(days=days_ago), found)


def note_acts(stage: Stage, number: int, **changes: Any) -> None:
    told = {"actor": "anna", "action": "release-published", "subject": "release:1"} | changes
    with Session(stage.engine) as session, session.begin():
        for at in range(number):
            audit.append(session, NOW, told["actor"], told["action"], told["subject"], note=f"act {at}")


def test_verdicts_are_shown_by_day_and_by_reason(client: FlaskClient, stage: Stage) -> None:
    tally(stage, 0, accepted=900, duplicate=40, impossible=50, unknown=10)
    tally(stage, 1, accepted=2_000)
    tally(stage, 20, accepted=7)
    page = read(client, "/telemetry")
    rows = re.findall(r'<tr><th scope="row">\d+\xa0\w+\xa0\d+</th>(.*?)</tr>', page)
    numbers = [re.findall(r">([\d,]+)</td>", row) for row in rows]
    assert numbers == [["900", "40", "50", "10", "1,000"], ["2,000", "0", "0", "0", "2,000"]]
    assert "latency impossible" in page
    assert "unknown report" in page
    assert "2,907" in read(client, "/telemetry?days=30")
    assert "set aside: from 0% to 5.0%." in page


def test_a_period_that_is_not_offered_is_the_shortest(client: FlaskClient, stage: Stage) -> None:
    tally(stage, 20, accepted=7)
    assert "No records in 7 days" in read(client, "/telemetry?days=4000")


def test_rollups_that_lag_behind_are_told_with_a_way_to_their_runs(client: FlaskClient, stage: Stage) -> None:
    now = clock.now()
    with Session(stage.engine) as session, session.begin():
        session.add(RolledDayRow(day=now.date(), rolled_at=now - timedelta(hours=2), observations=1, settled=False))
    page = read(client, "/telemetry")
    assert "The last rollup was 2\xa0h ago" in page
    assert 'href="/console/jobs?job=rollup"' in page


def test_records_that_were_set_aside_are_shown_as_they_came_and_by_reason(client: FlaskClient, stage: Stage) -> None:
    report_id, facts = stage.add_report(report())
    stage.set_aside(report_id, facts.device_class)
    payload = b'{"sdk": "caf\xc3\xa9\xff"}'
    stage.set_aside(report_id, facts.device_class, "unknown-release", set_aside_payload=payload)
    page = read(client, "/telemetry")
    assert '{"latency_us": -5}' in page
    assert r'{"sdk": "caf\303\251\377"}' in page
    assert f'href="/console/classes/{facts.device_class}"' in page
    narrowed = read(client, "/telemetry?reason=unknown-release")
    assert narrowed.count("<summary>As it came") == 1
    assert "Nothing for this reason in 7 days" in read(client, "/telemetry?reason=none")
    rows = list(csv.DictReader(io.StringIO(client.get("/console/telemetry?format=csv").text)))
    assert {row["set_aside"] for row in rows} == {"negative-latency", "unknown-release"}


def test_attempt_marks_are_counted_with_those_that_no_window_followed(client: FlaskClient, stage: Stage) -> None:
    assert "0 starts noted" in read(client, "/telemetry")
    report_id, _ = stage.add_report(report())
    stage.measure(report_id)
    with stage.engine.begin() as connection:
        connection.execute(sql("UPDATE arm_tally SET attempts = 40, crashed = 2"))
    assert "40 starts noted, 2 of them (5.0%) followed by no window" in read(client, "/telemetry")


def test_runs_show_progress_figures_and_log(client: FlaskClient, stage: Stage) -> None:
    stage.run_job("rollup", ["half", "the rest"], {"observations": 1234, "days": ["2026-03-01"]})
    listed = read(client, "/jobs")
    for text in ('href="/console/jobs/1"', "rollup", ">done</span>", "100%", "1,234", "2 lines"):
        assert text in listed
    page = read(client, "/jobs/1")
    assert re.findall(r"<li>(half|the rest)</li>", page) == ["half", "the rest"]
    assert "1,234" in page


def test_runs_are_found_by_job_and_state_and_come_in_pages(client: FlaskClient, stage: Stage) -> None:
    with Session(stage.engine) as session, session.begin():
        for number in range(60):
            ended = NOW + timedelta(minutes=3, seconds=20)
            job, state = ("export", "failed") if number == 0 else ("rollup", "done")
            row = JobRunRow(job=job, state=state, started_at=NOW, ended_at=ended, progress=0.25, figures={}, log=[])
            session.add(row)
    assert "51–60 of 60 runs" in read(client, "/jobs?page=2")
    failed = read(client, "/jobs?state=failed&job=export")
    assert "1–1 of 1 runs" in failed
    assert "3\xa0min 20\xa0s" in failed
    assert "25.0%" in failed
    assert "No run matches" in read(client, "/jobs?state=lost")
    rows = list(csv.DictReader(io.StringIO(client.get("/console/jobs?format=csv&state=failed").text)))
    assert [row["job"] for row in rows] == ["export"]


def test_the_audit_log_is_shown_newest_first_with_the_head_of_its_chain(client: FlaskClient, stage: Stage) -> None:
    note_acts(stage, PAGE_SIZE + 1)
    page = read(client, "/audit")
    with Session(stage.engine) as session:
        chain = audit.verify(session)
    assert f'<code class="long">{chain.head}</code>' in page
    assert f"act {PAGE_SIZE}" in page
    assert 'href="/console/releases/1"' in page
    assert "51–51 of 51 rows" in read(client, "/audit?q=anna&page=2")


def test_acts_are_found_by_who_what_and_on_what(client: FlaskClient, stage: Stage) -> None:
    note_acts(stage, 2)
    note_acts(stage, 1, actor="ben", action="rollout-aborted", subject="rollout:3")
    page = read(client, "/audit?q=ben")
    assert "1–1 of 1 rows" in page
    assert 'href="/console/rollouts/3"' in page
    assert "1–2 of 2 rows" in read(client, "/audit?q=anna+release")
    assert "No row matches" in read(client, "/audit?q=carla")
    rows = list(csv.DictReader(io.StringIO(client.get("/console/audit?format=csv&q=anna").text)))
    assert [row["detail"] for row in rows] == ['{"note":"act 1"}', '{"note":"act 0"}']


def test_an_act_on_a_revision_links_to_it(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    assert re.search(r'<a href="/console/revisions/1">model:camera/mobilenet</a>', unescape(read(client, "/audit")))


def test_hostile_texts_of_telemetry_jobs_and_acts_stay_text(client: FlaskClient, stage: Stage) -> None:
    told: dict[str, Any] = dict.fromkeys(("app", "model", "arm", "sdk"), HOSTILE) | {
        "set_aside_payload": HOSTILE.encode()
    }
    stage.set_aside(HOSTILE, HOSTILE, HOSTILE, **told)
    stage.run_job(HOSTILE, [HOSTILE], {HOSTILE: HOSTILE, "more": {HOSTILE: HOSTILE * 9}})
    with Session(stage.engine) as session, session.begin():
        audit.append(session, NOW, HOSTILE, HOSTILE, HOSTILE, **{HOSTILE: HOSTILE, "more": [HOSTILE]})
    searched = [f"/telemetry?reason={HOSTILE}", f"/jobs?job={HOSTILE}", f"/audit?q={HOSTILE}"]
    assert_only_text(client, ["/telemetry", "/jobs", "/jobs/1", "/audit", *searched])


def test_a_run_is_looked_at_again_by_itself_until_it_ends(client: FlaskClient, stage: Stage) -> None:
    with stage.engine.begin() as connection:
        run = job_runs.start(connection, "rollup", clock.now())
    path, looking = f"/console/jobs/{run}", {HEADER: "running", "HX-Request": "true"}
    for page in (path, "/console/jobs"):
        assert 'hx-trigger="every ' in client.get(page, headers=looking).text
    with stage.engine.begin() as connection:
        job_runs.end(connection, run, job_runs.DONE, clock.now(), {})
    assert client.get(path, headers=looking).headers["HX-Refresh"] == "true"
    for page in (path, "/console/jobs"):
        assert 'hx-trigger="every ' not in client.get(page).text
