"""Revisions, rollouts and releases in the console."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from html import unescape

import pytest
from console_builders import NOW, Stage, model_spec
from flask.testing import FlaskClient
from sqlmodel import Session

from policies.quarantine import parse_quarantine
from policies.revision import Kind, State
from policies.rollouts.rollout import Act, Measure
from service.console import revisions as revision_pages
from service.identity.actor import Actor, Role
from service.releasing.quarantines import put_in_force
from service.releasing.revisions import Proposal, save
from service.releasing.rollouts import steer
from service.store.releases import NewRelease, add_release, keep_content
from service.store.tables import RevisionRow, RolloutRow
from tests.console.markup import runs
from tests.console.test_console_pages import HOSTILE

QUARANTINE = {
    "app": "camera",
    "deny": {"id": "gpu-hangs", "arms": ["*.gpu"], "reason": "it hangs", "until": "2026-04-01"},
    "evidence": ["12 of 40 starts hang"],
    "owner": "ben",
}


def read(client: FlaskClient, path: str) -> str:
    answer = client.get(f"/console{path}")
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


def add_revision(stage: Stage, **changes: object) -> None:
    told: dict[str, object] = {
        "kind": Kind.POLICY, "subject": "camera", "content": {"app": "camera"}, "note": "why", "author": "anna",
        "created_at": NOW, "state": State.WITHDRAWN,
    }  # fmt: skip
    with Session(stage.engine) as session, session.begin():
        session.add(RevisionRow(**(told | changes)))


def test_a_rollout_shows_its_steps_its_share_and_its_guardrails(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    stage.start_rollout()
    page = read(client, "/rollouts/1")
    assert re.findall(r'aria-current="step">.*?class="badge (\w+)">(\w+)<', page, re.DOTALL) == [("going", "current")]
    assert page.count('">ahead</span>') == 3
    assert "1.0%" in page
    for measure in Measure:
        assert f'<th scope="row">{measure.replace("-", " ")}</th>' in page
    assert "The guard waits: 0 of 60 minutes" in page
    assert page.count(">within</span>") == len(Measure)
    assert 'href="/console/releases/2"' in page
    assert "1.0%" in read(client, "/rollouts")


def test_a_rollout_that_was_aborted_says_so_and_why(client: FlaskClient, stage: Stage) -> None:
    stage.operate()
    page = read(client, "/rollouts/1")
    told = re.findall(r"<li><p><strong>([a-z ]+)</strong>", page)
    assert told == ["rollout aborted", "rollout started"]
    assert "seen enough" in page
    assert page.count('">not reached</span>') == 3
    assert "seen enough" in read(client, "/rollouts")


def test_a_rollout_that_the_guard_has_not_looked_at_says_so(client: FlaskClient, stage: Stage) -> None:
    stage.operate()
    with Session(stage.engine) as session, session.begin():
        row = session.get(RolloutRow, 1)
        assert row is not None
        row.judgement = None
        session.add(row)
    page = read(client, "/rollouts/1")
    assert "The guard has not looked yet" in page
    assert page.count(">not read yet</span>") == len(Measure)


def test_a_breached_guardrail_stands_out_with_its_worst_cohort(client: FlaskClient, stage: Stage) -> None:
    stage.operate()
    reading = {
        "measure": "p90-latency", "evidence_log10": 5.1, "needed_log10": 2.7, "cohort": "soc exynos-2200",
        "cohort_ratio": 1.31, "ratio": 1.08, "stop_over": 1.05, "breached": True,
    }  # fmt: skip
    with Session(stage.engine) as session, session.begin():
        row = session.get(RolloutRow, 1)
        assert row is not None
        row.judgement = {"act": "stop", "because": "too slow", "candidate_windows": 1234, "readings": [reading]}
        row.judgement["at"] = NOW.isoformat()
        session.add(row)
    page = read(client, "/rollouts/1")
    for text in ("The guard stopped it: too slow", "soc exynos-2200", "1.31×", ">breached</span>", "1,234"):
        assert text in page
    assert 'width="100.00"' in page


def test_a_release_shows_what_it_changed_what_it_is_made_of_and_what_lies_over_it(
    client: FlaskClient, stage: Stage
) -> None:
    stage.fill()
    stage.add_model(model_spec() | {"latency_target_ms": 25.0})
    stage.publish("a tighter target")
    page = read(client, "/releases/2")
    assert "models · camera.mobilenet · latency_target_ms" in page
    assert re.findall(r'<code class="value">([\d.]+)</code>', page)[:2] == ["30.0", "25.0"]
    assert 'href="/console/revisions/' in page
    assert "No quarantine is laid over this release" in page
    assert 'href="/console/releases/1"' in page


def test_a_quarantine_stands_in_its_release_with_evidence_owner_and_end(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    put_in_force(stage.engine, parse_quarantine(QUARANTINE), "hangs", Actor("ben", Role.ADMIN), NOW)
    page = read(client, "/releases/2")
    for text in ("gpu-hangs", "it hangs", "12 of 40 starts hang", "Owner: ben", "Until: 2026-04-01"):
        assert text in page


def test_the_list_of_releases_links_each_and_the_rollout_it_belongs_to(client: FlaskClient, stage: Stage) -> None:
    stage.operate()
    page = read(client, "/releases")
    for link in ("/console/releases/1", "/console/releases/3", "/console/rollouts/1"):
        assert f'href="{link}"' in page


def test_a_long_diff_and_many_revisions_come_in_pages(client: FlaskClient, stage: Stage) -> None:
    changes = [{"path": f"/models/m{n}", "before": None, "after": n} for n in range(120)]
    for number in range(60):
        add_revision(stage, subject=f"app-{number}")
    with Session(stage.engine) as session, session.begin():
        keep_content(session, b"content", "0" * 64)
        new = NewRelease("0" * 64, "many", "anna", revisions=range(1, 61), diff=changes)
        add_release(session, new, NOW)
    assert "1–50 of 120 changes" in read(client, "/releases/1")
    page = read(client, "/releases/1?page=3&revisions=2")
    assert "101–120 of 120 changes" in page
    assert "51–60 of 60 revisions" in page
    assert "models · m119" in page
    assert re.findall(r'<td class="long subject">.*>(app-\d+)<', page) == [f"app-{n}" for n in range(59, 49, -1)]


def test_a_revision_shows_what_it_changed_and_who_approved_it(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    stage.add_model(model_spec() | {"latency_target_ms": 25.0})
    newest = max(int(n) for n in re.findall(r"/console/revisions/(\d+)", read(client, "/revisions?kind=model")))
    page = read(client, f"/revisions/{newest}")
    assert "What it changed" in page
    assert "latency_target_ms" in page
    assert "by manage-token" in page
    assert "Its author approved it: the installation has one user" in page
    assert ">approved</span>" in page


def test_a_draft_is_compared_with_what_is_accepted(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    content = model_spec() | {"latency_target_ms": 12.0}
    with Session(stage.engine) as session, session.begin():
        proposal = Proposal(Kind.MODEL, "camera/mobilenet", content, "try it")
        number = save(session, proposal, "ben", NOW, blind=True).number
    page = read(client, f"/revisions/{number}")
    assert "What it would change" in page
    assert "which is accepted now" in page
    assert "nobody yet" in page


def test_revisions_are_found_by_kind_state_and_words(client: FlaskClient, stage: Stage) -> None:
    add_revision(stage, subject="camera", author="anna")
    add_revision(stage, subject="gallery", author="ben", state=State.IN_REVIEW)
    add_revision(stage, subject="gallery/blur", kind=Kind.MODEL, author="ben", note="100% sure")

    def found(query: str) -> list[str]:
        return re.findall(
            r'<td class="long subject">.*>((?:camera|gallery)[^<]*)</a></td><td><span',
            read(client, f"/revisions?{query}"),
        )

    assert found("") == ["gallery/blur", "gallery", "camera"]
    assert found("kind=model") == ["gallery/blur"]
    assert found("state=in-review") == ["gallery"]
    assert found("q=BEN+gallery") == ["gallery/blur", "gallery"]
    assert found("q=100%25") == ["gallery/blur"]
    assert "No revision matches" in read(client, "/revisions?q=nobody")
    assert "1 waits for a review" in read(client, "/revisions")


def test_revisions_come_in_pages_and_as_a_file(client: FlaskClient, stage: Stage) -> None:
    for number in range(revision_pages.PAGE_SIZE + 2):
        add_revision(stage, subject=f"app-{number}", note="=1+1", created_at=NOW + timedelta(minutes=number))
    assert "51–52 of 52 revisions" in read(client, "/revisions?page=2")
    answer = client.get("/console/revisions?format=csv&kind=policy")
    assert answer.mimetype == "text/csv"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 52
    assert (rows[0]["subject"], rows[0]["note"], rows[0]["created_at"][-6:]) == ("app-51", "'=1+1", "+00:00")


@pytest.mark.parametrize("path", ["/releases/9", "/revisions/9", "/rollouts/9", "/revisions/99999999999", "/jobs/9"])
def test_what_there_is_none_of_is_a_page_with_404(client: FlaskClient, path: str) -> None:
    answer = client.get(f"/console{path}")
    assert answer.status_code == 404
    assert answer.mimetype == "text/html"


def test_hostile_texts_of_operators_stay_text(client: FlaskClient, stage: Stage) -> None:
    add_revision(
        stage, subject=HOSTILE, note=HOSTILE, author=HOSTILE, reviewer=HOSTILE, reviewed_at=NOW, review_note=HOSTILE,
        self_approved=True, content={HOSTILE: HOSTILE, "long": HOSTILE * 9}, kind=HOSTILE,
    )  # fmt: skip
    deny = {"id": HOSTILE, "reason": HOSTILE, "arms": [HOSTILE], "models": [HOSTILE], "when": HOSTILE, "until": HOSTILE}
    held = {"app": HOSTILE, "deny": deny, "evidence": [HOSTILE], "owner": HOSTILE}
    changes = [{"path": HOSTILE, "before": HOSTILE * 9, "after": {HOSTILE: [HOSTILE]}}]
    with Session(stage.engine) as session, session.begin():
        keep_content(session, b"content", "0" * 64)
        add_release(session, NewRelease("0" * 64, HOSTILE, HOSTILE, [1], [held], changes), NOW)
    paths = ["/revisions", "/revisions/1", "/releases", "/releases/1", f"/revisions?q={HOSTILE}&kind={HOSTILE}"]
    assert_only_text(client, paths)


def test_hostile_texts_of_a_rollout_stay_text(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    stage.start_rollout()
    steer(stage.engine, 1, Act.ABORT, HOSTILE, HOSTILE, NOW)
    with Session(stage.engine) as session, session.begin():
        row = session.get(RolloutRow, 1)
        assert row is not None
        assert row.judgement is not None
        row.note = row.author = HOSTILE
        readings = [reading | {"cohort": HOSTILE} for reading in row.judgement["readings"]]
        row.judgement = row.judgement | {"because": HOSTILE, "act": HOSTILE, "readings": readings}
        session.add(row)
    assert_only_text(client, ["/rollouts", "/rollouts/1"])


def assert_only_text(client: FlaskClient, paths: list[str]) -> None:
    for path in paths:
        answer = client.get(f"/console{path}")
        assert answer.status_code == 200, path
        assert runs(answer.text) == [], path
        assert "&lt;script&gt;" in answer.text, path


def test_guardrails_show_what_is_not_excluded_and_what_each_step_was_done_on(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    stage.start_rollout()
    with Session(stage.engine) as session, session.begin():
        row = session.get(RolloutRow, 1)
        assert row is not None
        assert row.judgement is not None
        known = {"low": 0.9, "high": 1.3, "ratio": 1.1, "candidate_n": 1234, "control_n": 5678}
        readings = [reading | known for reading in row.judgement["readings"]]
        row.judgement = row.judgement | {"readings": readings}
        row.timeline = [*row.timeline, row.timeline[-1] | {"what": "rollout-advanced", "readings": readings}]
        session.add(row)
    page = read(client, "/rollouts/1")
    assert page.count('class="limit"') == len(readings)
    assert "0.90× – 1.30×" in page
    assert "control 5,678" in page
    assert page.count("What it was done on") == 1


def test_a_judgement_of_an_older_version_is_shown_without_intervals(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    stage.start_rollout()
    with Session(stage.engine) as session, session.begin():
        row = session.get(RolloutRow, 1)
        assert row is not None
        assert row.judgement is not None
        new = {"low", "high", "candidate_n", "control_n"}
        readings = [{k: v for k, v in reading.items() if k not in new} for reading in row.judgement["readings"]]
        row.judgement = {k: v for k, v in row.judgement.items() if k != "confidence"} | {"readings": readings}
        session.add(row)
    assert 'class="limit"' not in read(client, "/rollouts/1")
