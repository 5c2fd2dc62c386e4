"""Hours in which a rollout goes on, by the clocks of their zone each time (RO-08)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from test_guardrails import COHORTS, SOCS

from policies.errors import InvalidField
from policies.rollouts.guardrails import judge
from policies.rollouts.hours import closed, opens, parse_hours
from policies.rollouts.readings import Seen, Stratum
from policies.rollouts.rollout import Act, RolloutPlan, State, parse_rollout_plan

OFFICE = "09:00-17:00 mon-fri Europe/Berlin"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "utc", "holds"),
    [
        (OFFICE, "2026-03-27T08:00", True),  # Friday 09:00, winter
        (OFFICE, "2026-03-27T07:59", False),
        (OFFICE, "2026-03-27T16:00", False),  # 17:00 is not in it
        (OFFICE, "2026-03-28T10:00", False),  # Saturday
        (OFFICE, "2026-03-30T07:00", True),  # Monday 09:00, summer: an hour earlier in UTC
        (OFFICE, "2026-03-30T15:30", False),
        ("22:00-06:00 fri UTC", "2026-03-28T05:59", True),  # Saturday morning belongs to Friday night
        ("22:00-06:00 fri UTC", "2026-03-27T05:00", False),
        ("22:00-06:00 fri UTC", "2026-03-27T22:00", True),
        ("00:00-24:00 sat,sun Asia/Tokyo", "2026-03-27T15:00", True),  # Saturday there
        ("01:00-02:00 sun Europe/London", "2026-10-25T00:30", True),  # both times that clocks show it
        ("01:00-02:00 sun Europe/London", "2026-10-25T01:30", True),
        ("01:00-02:00 sun Europe/London", "2026-03-29T01:00", False),  # clocks skip it
    ],
)  # fmt: skip
def test_hours_hold_by_the_clocks_of_their_zone(hours: str, utc: str, holds: bool) -> None:
    assert parse_hours(hours).hold(at(utc)) == holds


@pytest.mark.parametrize(
    ("hours", "utc", "next_utc"),
    [
        (OFFICE, "2026-03-27T16:30", "2026-03-30T07:00"),  # over the weekend, and over the change to summer time
        (OFFICE, "2026-10-23T15:30", "2026-10-26T08:00"),
        (OFFICE, "2026-03-27T10:00", "2026-03-27T10:00"),
        ("01:00-02:00 sun Europe/London", "2026-03-28T12:00", "2026-04-05T00:00"),
        (
            "02:30-05:00 sun Europe/Berlin",
            "2026-03-28T12:00",
            "2026-03-29T01:00",
        ),  # with the first minute after the gap
        ("01:30-02:00 sun Europe/London", "2026-10-24T12:00", "2026-10-25T00:30"),
    ],
)
def test_it_is_known_when_they_begin_next(hours: str, utc: str, next_utc: str) -> None:
    assert opens([parse_hours(hours)], at(utc)) == at(next_utc)


def test_of_several_hours_one_is_enough_and_the_first_to_come_is_told() -> None:
    both = parse_rollout_plan({"hours": [OFFICE, "12:00-13:00 sat UTC"]}).hours
    assert closed(both, at("2026-03-28T12:30")) == ""
    assert "next from Sat 2026-03-28 13:00 Europe/Berlin (12:00 UTC)" in closed(both, at("2026-03-27T20:00"))
    assert closed((), at("2026-03-28T12:30")) == ""


def test_hours_that_clocks_skip_the_one_time_that_they_come_are_told_without_a_next() -> None:
    skipped = RolloutPlan(hours=(parse_hours("01:00-02:00 sun Europe/London"),)).hours
    assert closed(skipped, at("2026-03-23T12:00")) == "steps are opened within 01:00-02:00 sun Europe/London alone"


@pytest.mark.parametrize(
    ("stated", "told"),
    [("09:00-17:00 mon-fri Europe/Berlin", "09:00-17:00 mon-fri Europe/Berlin"), ("22:00-06:00 fri-mon UTC", "22:00-06:00 mon,fri,sat,sun UTC"),
     ("00:00-24:00 sun,mon UTC", "00:00-24:00 mon,sun UTC")],
)  # fmt: skip
def test_hours_are_kept_as_they_are_told(stated: str, told: str) -> None:
    plan = parse_rollout_plan({"hours": [stated]})
    assert plan.model_dump(mode="json")["hours"] == [told]
    assert RolloutPlan.model_validate(plan.model_dump(mode="json")) == plan


@pytest.mark.parametrize(
    "stated",
    ["", "always", "9-17 mon UTC", "09:00-25:00 mon UTC", "09:00-09:00 mon UTC", "09:00-17:00 monday UTC",
     "09:00-17:00 mon- UTC", "09:00-17:00 mon", "09:00-17:00 mon Europe/Berlim", 9, None],
)  # fmt: skip
def test_hours_that_cannot_be_are_refused_at_their_place(stated: Any) -> None:
    with pytest.raises(InvalidField) as refused:
        parse_rollout_plan({"hours": [OFFICE, stated]})
    assert refused.value.field == "hours.1"


def strata(slower: float) -> list[Stratum]:
    fine, slow = (Seen(2_000, log_p90=levels(factor)) for factor in (1.0, slower))
    return [Stratum(soc, "camera.seg", 2, slow, fine) for soc in SOCS]


def levels(factor: float) -> Any:
    import math

    from policies.rollouts.sequential import Levels

    values = [math.log(factor * 4_000 * (1 + 0.01 * (n % 5 - 2))) for n in range(2_000)]
    return Levels(len(values), sum(values), sum(value**2 for value in values))


@pytest.mark.parametrize(("steps", "act"), [(2, Act.ADVANCE), (1, Act.COMPLETE)])
def test_outside_of_its_hours_no_step_is_opened_and_nothing_given_to_everybody(steps: int, act: Act) -> None:
    shares = [{"share_bp": 100 * (n + 1), "min_minutes": 0, "min_windows": 1} for n in range(steps)]
    plan = parse_rollout_plan({"steps": shares})
    assert judge(plan, State.RUNNING, 0, 60, 2, strata(1.0), COHORTS).act is act
    waits = judge(plan, State.RUNNING, 0, 60, 2, strata(1.0), COHORTS, "it is night")
    assert (waits.act, waits.because) == (None, "it is night")


def test_a_breach_stops_a_rollout_at_any_hour() -> None:
    plan = parse_rollout_plan({"hours": [OFFICE]})
    assert judge(plan, State.RUNNING, 0, 60, 2, strata(1.5), COHORTS, "it is night").act is Act.STOP
