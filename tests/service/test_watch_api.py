"""What operators watch: every verdict counted, every run shown (R-D7)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from builders import make_observation
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine
from sqlmodel import Session

from service import clock
from service.jobs.rollup import roll_up
from service.jobs.run import Steps, figures_of, recorded
from service.store import tallies


def with_latency(**changes: Any) -> dict[str, Any]:
    record = make_observation(sdk="java/0.9")
    record["runs"]["latency_us"] |= changes
    return record


@pytest.mark.usefixtures("known_report")
def test_every_verdict_is_counted_and_folding_counts_changes_none(
    client: FlaskClient, operator: Operator, engine: Engine
) -> None:
    twice, other = make_observation(), make_observation(report_id="0" * 64)
    odd = [with_latency(min=-1), with_latency(min=-5), make_observation(release=9)]
    client.post("/v1/telemetry", json=[twice, other, {"no": "record"}, *odd])
    client.post("/v1/telemetry", json=[twice, twice | {"sdk": "another"}])
    for _ in range(2):
        health = operator.send("GET", "/v1/telemetry/health").get_json()
        assert (health["accepted"], health["duplicate"]) == (1, 1)
        assert health["set_aside"] == {"negative-latency": 2, "unknown-release": 1}
        assert health["rejected"] == {"invalid-record": 1, "unknown-report": 1, "id-conflict": 1}
        assert health["noted"] == {"clock-behind": 4}
        figures_of(roll_up(engine, clock.now(), clock.now()))
    assert {"reason": "negative-latency", "sdk": "java/0.9", "records": 2} in health["set_aside_by_sdk_24h"]
    assert health["rolled_up"]["newest_day"] == datetime.now(UTC).date().isoformat()
    assert health["partitions"]["days"] >= 1
    with Session(engine) as session, session.begin():
        assert tallies.fold(session) == tallies.fold(session) == 8


def test_clocks_that_are_off_are_counted_beside_the_verdicts(
    client: FlaskClient, operator: Operator, known_report: str
) -> None:
    now = clock.now()
    off = ("1970-01-01T00:00:07Z", "2038-01-19T03:14:08Z", now + timedelta(hours=2), now - timedelta(hours=27))
    near = (now, now + timedelta(minutes=4), now - timedelta(hours=23))
    records = [make_observation(device_time=str(at).replace(" ", "T")) for at in (*off, *near)]
    assert client.post("/v1/telemetry", json=records).get_json()["accepted"] == len(records)
    health = operator.send("GET", "/v1/telemetry/health").get_json()
    assert health["noted"] == {"clock-ahead": 2, "clock-behind": 2}
    assert health["accepted"] == len(records)


def test_how_many_phones_run_under_a_release_is_told(
    client: FlaskClient, operator: Operator, known_report: str
) -> None:
    for release in range(1, 3):
        assert operator.publish(f"number {release}") == release
        client.post("/v1/telemetry", json=[make_observation(release=release) for _ in range(release)])
    client.post("/v1/telemetry", json=[make_observation(release=1)])
    health = operator.send("GET", "/v1/telemetry/health").get_json()
    assert health["windows_by_release_10m"] == {"2": 2, "1": 2}


def test_runs_are_shown_the_newest_first(operator: Operator, engine: Engine) -> None:
    def steps() -> Steps:
        yield 0.5, "half"
        return {"rows": 3}

    for job in ("rollup", "export"):
        recorded(engine, job, steps(), clock.now)
    runs = operator.send("GET", "/v1/jobs").get_json()["runs"]
    assert [(run["job"], run["state"], run["progress"]) for run in runs] == [
        ("export", "done", 1),
        ("rollup", "done", 1),
    ]
    assert (runs[0]["figures"], runs[0]["log"]) == ({"rows": 3}, ["half"])


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/telemetry/health"])
def test_who_has_no_token_sees_nothing(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 401
