"""The scan names the cohort that was planted, no wider and no narrower, and seldom anything where nothing is wrong.

40,000 devices with eight attributes, as in the trials that the scan was chosen by, on seeds of its own. A run ends with
the table; beside the scan stands a greedy search, which adds the condition with the highest failure rate until none is
better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import pytest

from ml.cohort import Control, Trials, guarded, scan
from ml.table import Text

DEVICES: Final = 40_000
VALUES: Final = {
    "soc": 30,
    "driver": 8,
    "android": 6,
    "precision": 4,
    "delegate": 5,
    "pattern": 3,
    "vendor": 3,
    "abi": 2,
}
NORMAL_SHARE: Final = 0.01

Conditions = dict[str, str]
NoteRates = Callable[[str, str, str], None]


def make_fleet(rng: np.random.Generator) -> dict[str, Text]:
    """Devices with eight attributes whose values are as uneven as a market."""
    fleet = {}
    for name, count in VALUES.items():
        weight = 1 / (np.arange(count) + 1.5)
        fleet[name] = rng.choice(count, DEVICES, p=weight / weight.sum()).astype(np.str_)
    return fleet


def members(fleet: Mapping[str, Text], conditions: Conditions) -> np.ndarray:
    return np.logical_and.reduce([fleet[name] == value for name, value in conditions.items()])


def a_cohort_of(fleet: Mapping[str, Text], rng: np.random.Generator, least: int) -> Conditions:
    """Some conjunction of two attributes with `least` members or more, and not over ten times as many."""
    while True:
        names = rng.choice(list(VALUES), 2, replace=False)
        device = rng.integers(DEVICES)
        conditions = {str(name): str(fleet[name][device]) for name in names}
        if least <= members(fleet, conditions).sum() <= 10 * least:
            return conditions


def with_faults(
    fleet: Mapping[str, Text], rng: np.random.Generator, faults: list[Conditions], excess: int
) -> np.ndarray:
    failed = rng.random(DEVICES) < NORMAL_SHARE
    for conditions in faults:
        rows = np.flatnonzero(members(fleet, conditions))
        failed[rng.choice(rows, excess, replace=False)] = True
    return failed


def greedy(fleet: Mapping[str, Text], failed: np.ndarray) -> Conditions:
    """The baseline: conditions added one by one, each the one that the most surprising share of failures lies behind."""
    found: Conditions = {}
    inside = np.ones(DEVICES, np.bool_)
    best = 0.0
    while len(found) < 3:
        options = [
            (excess_of(inside & (fleet[name] == value), failed), name, str(value))
            for name in fleet.keys() - found.keys()
            for value in np.unique(fleet[name])
        ]
        score, name, value = max(options)
        if score <= best:
            break
        best, found[name] = score, value
        inside &= fleet[name] == value
    return found


def excess_of(inside: np.ndarray, failed: np.ndarray) -> float:
    expected, seen = NORMAL_SHARE * inside.sum(), float((inside & failed).sum())
    return seen * np.log(seen / expected) - (seen - expected) if seen > expected > 0 else 0.0


@pytest.mark.parametrize(("least", "most", "least_found"), [(10, 30, 0.6), (30, 100, 0.9), (100, 300, 1.0)])
def test_a_planted_cohort_is_named_exactly(least: int, most: int, least_found: float, note_rates: NoteRates) -> None:
    exact, by_greedy = [], []
    for seed in range(6):
        rng = np.random.default_rng([seed, least])
        fleet = make_fleet(rng)
        excess = int(rng.integers(least, most))
        fault = a_cohort_of(fleet, rng, int(1.2 * excess))
        failed = with_faults(fleet, rng, [fault], excess)
        found = scan(Trials.of(fleet, failed, NORMAL_SHARE))
        exact.append(bool(found) and found[0].conditions == fault)
        by_greedy.append(greedy(fleet, failed) == fault)
    size = f"{least}–{most} failing devices"
    note_rates("cohort", size, f"exact {np.mean(exact):4.0%} of {len(exact)} fleets, greedy {np.mean(by_greedy):4.0%}")
    assert np.mean(exact) >= least_found
    assert np.mean(exact) >= np.mean(by_greedy)


def test_a_healthy_fleet_seldom_raises_an_alarm_and_a_control_arm_almost_never(note_rates: NoteRates) -> None:
    """Counting events alarms about every second time; the control is half the devices, served something else."""
    alarms, confirmed, by_events = [], [], []
    for seed in range(1000, 1020):
        rng = np.random.default_rng(seed)
        fleet = make_fleet(rng)
        failed = with_faults(fleet, rng, [], 0)
        control = rng.random(DEVICES) < 0.5
        here = {name: column[~control] for name, column in fleet.items()}
        found = scan(Trials.of(here, failed[~control], NORMAL_SHARE))
        alarms.append(bool(found))
        confirmed.append(any(held_against(cohort.conditions, fleet, failed, control).holds for cohort in found))
        times = 1 + rng.poisson(2.0, DEVICES)
        repeated = np.repeat(np.arange(DEVICES), np.where(failed, times, 1))
        events = {name: column[repeated] for name, column in fleet.items()}
        by_events.append(bool(scan(Trials.of(events, failed[repeated]))))
    rates = (
        f"alarms {np.mean(alarms):.1%} of {len(alarms)} fleets (nominal 5 %), with control arm {np.mean(confirmed):.1%}"
    )
    note_rates("cohort", "no fault", f"{rates}, counting events {np.mean(by_events):.0%}")
    assert np.mean(alarms) <= 0.1
    assert not any(confirmed)


def held_against(
    conditions: Mapping[str, str], fleet: Mapping[str, Text], failed: np.ndarray, control: np.ndarray
) -> Control:
    inside = np.logical_and.reduce([fleet[name] == value for name, value in conditions.items()])
    counts = [(int(rows.sum()), int(failed[rows].sum())) for rows in (inside & ~control, inside & control)]
    return Control(*counts[0], *counts[1])


def test_a_control_arm_confirms_a_cohort_that_really_fails() -> None:
    assert Control(40, 12, 40, 0).holds
    assert not Control(40, 12, 40, 10).holds
    assert Control(1, 1, 2, 0).p_value == pytest.approx(1 / 3)


@pytest.mark.parametrize("shared", [0, 1])
def test_two_faults_at_once_are_both_named(shared: int, note_rates: NoteRates) -> None:
    """Those that share a condition too: what they share then looks worse than either."""
    both = []
    for seed in range(2000, 2006):
        rng = np.random.default_rng(seed)
        fleet = make_fleet(rng)
        faults = two_cohorts_of(fleet, rng, shared)
        found = scan(Trials.of(fleet, with_faults(fleet, rng, faults, 150), NORMAL_SHARE))
        both.append(
            len(found) == len(faults) and all(fault in [cohort.conditions for cohort in found] for fault in faults)
        )
    size = f"two faults of 150 with {shared} in common"
    note_rates("cohort", size, f"both exact and nothing else in {np.mean(both):.0%} of {len(both)} fleets")
    assert all(both)


def two_cohorts_of(fleet: Mapping[str, Text], rng: np.random.Generator, shared: int) -> list[Conditions]:
    """Two of 200 members or more, with so many conditions in common."""
    while True:
        one, other = (a_cohort_of(fleet, rng, 200) for _ in range(2))
        if len(one.items() & other.items()) == shared:
            return [one, other]


def test_a_fault_of_one_condition_is_not_taken_apart() -> None:
    rng = np.random.default_rng(3000)
    fleet = make_fleet(rng)
    fault = {"driver": "6"}
    found = scan(Trials.of(fleet, with_faults(fleet, rng, [fault], 300), NORMAL_SHARE))
    assert [cohort.conditions for cohort in found] == [fault]


def test_a_cohort_that_failed_before_as_often_is_no_news() -> None:
    rng = np.random.default_rng(5)
    fleet = make_fleet(rng)
    fault = a_cohort_of(fleet, rng, 200)
    failed = with_faults(fleet, rng, [fault], 60)
    before = with_faults(fleet, rng, [fault], 60)
    news = Trials(fleet, failed, np.full(DEVICES, NORMAL_SHARE), np.zeros(DEVICES, np.bool_))
    old = Trials(fleet, failed, np.full(DEVICES, NORMAL_SHARE), before)
    assert [cohort.conditions for cohort in scan(news)] == [fault]
    assert fault not in [cohort.conditions for cohort in scan(old)]


def test_expectation_is_never_trusted_below_what_little_data_allow() -> None:
    expected, before = np.array([0.0, 1.0, 10.0, 10.0]), np.array([0.0, 0.0, 0.0, 30.0])
    assert (guarded(expected, before) > expected).all()
    assert guarded(expected, before)[3] > 20


def test_no_trial_and_no_failure_give_no_cohort() -> None:
    nothing = {"soc": np.array([], dtype=np.str_)}
    assert scan(Trials.of(nothing, np.zeros(0, np.bool_), NORMAL_SHARE)) == []
    assert scan(Trials.of({"soc": np.array(["a"] * 50)}, np.zeros(50, np.bool_), NORMAL_SHARE)) == []
