"""The scan names the cohort that was planted, no wider and no narrower, and seldom anything where nothing is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pytest

from ml.cohort import Trials, guarded, scan
from ml.table import Text

DEVICES: Final = 20_000
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


@pytest.mark.parametrize(("excess", "least_found"), [(20, 0.5), (60, 0.9), (150, 1.0)])
def test_a_planted_cohort_is_named_exactly(excess: int, least_found: float) -> None:
    exact = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        fleet = make_fleet(rng)
        fault = a_cohort_of(fleet, rng, int(1.2 * excess))
        found = scan(Trials.of(fleet, with_faults(fleet, rng, [fault], excess), NORMAL_SHARE))
        exact.append(bool(found) and found[0].conditions == fault)
    print(f"{excess} failing devices: exact cohort in {np.mean(exact):.0%} of {len(exact)} fleets")
    assert np.mean(exact) >= least_found


def test_a_healthy_fleet_seldom_raises_an_alarm() -> None:
    alarms = []
    for seed in range(100, 130):
        rng = np.random.default_rng(seed)
        fleet = make_fleet(rng)
        alarms.append(bool(scan(Trials.of(fleet, with_faults(fleet, rng, [], 0), NORMAL_SHARE))))
    print(f"no fault: {np.mean(alarms):.0%} of {len(alarms)} fleets raise an alarm (nominal 5 %)")
    assert np.mean(alarms) <= 0.1


def test_two_faults_at_once_are_both_named() -> None:
    both = []
    for seed in range(200, 208):
        rng = np.random.default_rng(seed)
        fleet = make_fleet(rng)
        faults = [a_cohort_of(fleet, rng, 200) for _ in range(2)]
        found = scan(Trials.of(fleet, with_faults(fleet, rng, faults, 150), NORMAL_SHARE))
        both.append(all(fault in [cohort.conditions for cohort in found] for fault in faults))
    print(f"two faults: both exact in {np.mean(both):.0%} of {len(both)} fleets")
    assert np.mean(both) >= 0.75


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
