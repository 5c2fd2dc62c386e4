"""Situations (R-C7): first match in order; what is unknown never matches."""

from __future__ import annotations

from typing import Any

import pytest

from nnfleet_client import Thermal
from nnfleet_client.document import Situation
from nnfleet_client.situations import Circumstances, matching_plan, thermal_from


def plan_for(now: Circumstances, *situations: dict[str, Any]) -> str | None:
    numbered = [Situation(when, f"plan-{place}") for place, when in enumerate(situations)]
    return matching_plan(numbered, now)


def test_the_first_matching_situation_wins_over_a_narrower_later_one() -> None:
    hot = Circumstances("sustained", Thermal.SEVERE)
    assert plan_for(hot, {"thermal_at_least": "light"}, {"workload": "sustained", "thermal_at_least": "severe"}) == (
        "plan-0"
    )


def test_every_key_of_a_situation_must_match() -> None:
    cool = Circumstances("sustained", Thermal.LIGHT)
    assert plan_for(cool, {"workload": "sustained", "thermal_at_least": "moderate"}, {}) == "plan-1"


@pytest.mark.parametrize(("thermal", "plan"), [(Thermal.LIGHT, "plan-1"), (Thermal.MODERATE, "plan-0")])
def test_thermal_states_are_ordered(thermal: Thermal, plan: str) -> None:
    assert plan_for(Circumstances(thermal=thermal), {"thermal_at_least": "moderate"}, {}) == plan


@pytest.mark.parametrize(
    "when",
    [
        {"workload": "burst"},
        {"thermal_at_least": "none"},
        {"battery_saver": False},
        {"battery_saver": True},
    ],
)
def test_what_the_app_does_not_know_matches_nothing(when: dict[str, Any]) -> None:
    assert plan_for(Circumstances(), when, {}) == "plan-1"


@pytest.mark.parametrize(
    "when",
    [
        {"moon_phase": "full"},
        {"workload": "burst", "moon_phase": "full"},
        {"thermal_at_least": "scorching"},
        {"thermal_at_least": 1},
        {"battery_saver": 1},
    ],
)
def test_what_this_client_does_not_understand_matches_nothing(when: dict[str, Any]) -> None:
    known = Circumstances("burst", Thermal.SHUTDOWN, battery_saver=True)
    assert plan_for(known, when, {}) == "plan-1"


def test_battery_saver_matches_both_of_its_states() -> None:
    assert plan_for(Circumstances(battery_saver=False), {"battery_saver": True}, {"battery_saver": False}) == "plan-1"


def test_without_a_situation_that_asks_for_nothing_there_may_be_no_plan() -> None:
    assert plan_for(Circumstances(), {"workload": "burst"}) is None


@pytest.mark.parametrize(
    ("given", "thermal"),
    [
        ("moderate", Thermal.MODERATE),
        (3, Thermal.SEVERE),
        (Thermal.CRITICAL, Thermal.CRITICAL),
        (0, Thermal.NONE),
        (None, None),
        (7, None),
        (-1, None),
        (True, None),
        ("MODERATE", None),
        ("scorching", None),
    ],
)
def test_a_thermal_state_is_androids_number_or_our_word(given: Any, thermal: Thermal | None) -> None:
    assert thermal_from(given) is thermal
