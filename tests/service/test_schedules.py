"""Rollouts that begin at a local time, and go on within hours of a zone alone (RO-08)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine
from sqlmodel import Session
from test_rollouts import MODEL, STEPS, begin, healthy, live, newer_model, report, shown, sizes

from policies.errors import InvalidField
from policies.rollouts.local_time import LocalTime
from policies.rollouts.rollout import RolloutPlan, State
from service import clock
from service.releasing import rollouts
from service.releasing.rollouts import CRASH_GRACE, guard, start
from service.store.rollouts import rollout
from service.store.tables import RolloutRow

FRIDAY = datetime(2026, 3, 27, 10, tzinfo=UTC)
OFFICE = "09:00-17:00 mon-fri Europe/Berlin"
PLAN = {"steps": STEPS}


@pytest.fixture
def approved(operator: Operator, known_report: str) -> None:
    """Something is live, and something else approved."""
    operator.publish("good")
    assert operator.send("PUT", MODEL, newer_model()).status_code == 200


def schedule(
    engine: Engine, at: datetime, zone: str = "Europe/Berlin", now: datetime = FRIDAY, **plan: Any
) -> RolloutRow:
    stated = RolloutPlan.model_validate(PLAN | plan)
    return start(engine, stated, "smaller files", "anna", now, LocalTime(at, zone))


def now_of(engine: Engine) -> RolloutRow:
    with Session(engine, expire_on_commit=False) as session:
        return rollout(session, 1)


@pytest.mark.usefixtures("approved")
def test_a_scheduled_rollout_reaches_nobody_before_its_time_and_its_share_from_then_on(engine: Engine) -> None:
    at = FRIDAY + timedelta(hours=3)
    row = schedule(engine, at)
    assert (row.state, row.starts_at, row.zone, row.started_at) == (State.SCHEDULED, at, "Europe/Berlin", None)
    assert guard(engine, at - timedelta(seconds=1)) is None
    assert live(engine).staged is None
    guard(engine, at + timedelta(seconds=20))
    row = now_of(engine)
    assert (row.state, row.started_at) == (State.RUNNING, at + timedelta(seconds=20))
    assert live(engine).staged.share_bp == 1_000
    assert [(line["what"], line["by"]) for line in row.timeline] == [
        ("rollout-scheduled", "anna"),
        ("rollout-started", "guard"),
    ]
    assert row.timeline[0]["starts_at"] == "2026-03-27T14:00+01:00 Europe/Berlin"


@pytest.mark.usefixtures("approved")
def test_it_is_stated_by_local_clocks_and_shown_by_both(operator: Operator) -> None:
    in_two_days = (clock.now() + timedelta(days=2)).replace(minute=0, second=0, microsecond=0)
    answer = operator.send(
        "POST", "/v1/rollouts", {"note": "x", "start": f"{in_two_days:%Y-%m-%dT%H:%M} UTC", "hours": []}
    )
    assert answer.status_code == 201
    told = answer.get_json()
    assert (told["state"], told["share_bp"], told["started_at"]) == ("scheduled", 0, None)
    assert told["starts_at"] == {"utc": in_two_days.isoformat(), "local": in_two_days.isoformat(), "zone": "UTC"}
    again = operator.send("POST", "/v1/rollouts", {"note": "x"})
    assert (again.status_code, again.get_json()["code"]) == (409, "rollout-active")
    aborted = operator.send("POST", "/v1/rollouts/1/abort", {"note": "not then"}).get_json()
    assert (aborted["state"], aborted["timeline"][-1].get("release")) == ("aborted", None)
    assert operator.send("POST", "/v1/rollouts", {"note": "now, then"}).get_json()["state"] == "running"


@pytest.mark.usefixtures("approved")
@pytest.mark.parametrize("stated", ["2026-10-25T01:30 Europe/London", "2026-03-29T01:30 Europe/London"])
def test_a_time_that_is_none_or_two_is_a_problem_that_says_both(operator: Operator, stated: str) -> None:
    answer = operator.send("POST", "/v1/rollouts", {"note": "x", "start": stated})
    told = answer.get_json()
    assert (answer.status_code, told["code"], told["field"]) == (422, "unclear-time", "start")
    assert len(told["choices"]) == 2
    assert operator.send("GET", "/v1/rollouts").get_json()["rollouts"] == []


@pytest.mark.usefixtures("approved")
@pytest.mark.parametrize(
    ("at", "hours", "why"),
    [
        (FRIDAY - timedelta(minutes=1), [], "over"),
        (FRIDAY + timedelta(days=400), [], "a year ahead"),
        (FRIDAY + timedelta(days=1), [OFFICE], "next from Mon 2026-03-30 09:00"),
    ],
)
def test_a_moment_that_is_over_far_off_or_outside_of_its_own_hours_is_refused(
    engine: Engine, at: datetime, hours: list[str], why: str
) -> None:
    with pytest.raises(InvalidField, match=why):
        schedule(engine, at, hours=hours)


@pytest.mark.usefixtures("approved")
def test_no_rollout_begins_outside_of_its_own_hours(engine: Engine) -> None:
    plan = RolloutPlan.model_validate(PLAN | {"hours": [OFFICE]})
    with pytest.raises(InvalidField, match="next from Mon"):
        start(engine, plan, "x", "anna", FRIDAY + timedelta(days=1))


@pytest.mark.usefixtures("approved")
def test_a_worker_that_comes_late_waits_for_the_next_hours(engine: Engine) -> None:
    schedule(engine, FRIDAY + timedelta(hours=3), hours=[OFFICE])
    guard(engine, FRIDAY + timedelta(days=1))
    assert now_of(engine).state == State.SCHEDULED
    guard(engine, datetime(2026, 3, 30, 7, 0, tzinfo=UTC))
    assert now_of(engine).state == State.RUNNING


@pytest.mark.usefixtures("approved")
def test_what_was_approved_meanwhile_waits_for_the_next(engine: Engine, operator: Operator) -> None:
    schedule(engine, clock.now() + timedelta(hours=1), now=clock.now())
    later = newer_model() | {"latency_target_ms": 5.0}
    assert operator.send("PUT", MODEL, later).status_code == 200
    guard(engine, clock.now() + timedelta(hours=2))
    content = live(engine)
    assert sizes(content.staged.candidate) == {500}
    assert content.staged.candidate.models["camera"][0].latency_target_ms == 30.0


@pytest.mark.usefixtures("approved")
@pytest.mark.parametrize("how", ["withdraw", "publish"])
def test_it_is_called_off_where_it_is_not_what_it_was_scheduled_as(
    engine: Engine, operator: Operator, how: str
) -> None:
    row = schedule(engine, clock.now() + timedelta(hours=1), now=clock.now())
    newest = max({*row.candidate_revisions} - {*row.control_revisions})
    path = f"/v1/revisions/{newest}/withdraw" if how == "withdraw" else "/v1/releases"
    assert operator.send("POST", path, {"note": "meanwhile"}).status_code in {200, 201}
    before = live(engine)
    guard(engine, clock.now() + timedelta(hours=2))
    row = now_of(engine)
    assert (row.state, row.timeline[-1]["what"]) == (State.ABORTED, "rollout-called-off")
    assert "was scheduled" in row.timeline[-1]["because"]
    assert live(engine).number == before.number


@pytest.mark.usefixtures("approved")
def test_a_step_waits_for_its_hours_and_a_breach_does_not(
    client: FlaskClient, engine: Engine, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = f"{clock.now() + timedelta(hours=48):%H}:00-24:00 {clock.now() + timedelta(hours=48):%a} UTC".lower()
    with monkeypatch.context() as patched:
        patched.setattr(rollouts, "check_moment", lambda *_: None)
        told = begin(operator, hours=[hours.replace("utc", "UTC")])
    release = live(engine).number
    healthy(client, release)
    judged = guard(engine, clock.now(), CRASH_GRACE)
    assert judged is not None
    assert (judged.act, "steps are opened within" in judged.because) == (None, True)
    report(client, release, None, 60)
    report(client, release, "candidate", 60, 9_000)
    guard(engine, clock.now(), CRASH_GRACE)
    assert shown(operator, told["rollout"])["state"] == "stopped"
