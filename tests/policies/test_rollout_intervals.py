"""Intervals of guardrails: they hold at every look at once, and narrow as more is seen (R-F3)."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.rollouts.guardrails import judge
from policies.rollouts.intervals import FURTHEST, Interval, interval_of_rates, interval_of_shift
from policies.rollouts.readings import Seen, Stratum
from policies.rollouts.rollout import Measure, RolloutPlan, State
from policies.rollouts.sequential import Failures, Levels, Shift, rate_ratio, shift

LOOKS = 20
counts = st.integers(0, 200)
seen = st.lists(st.tuples(counts, counts, counts, counts), max_size=5)


def failures(rows: list[tuple[int, int, int, int]]) -> list[Failures]:
    return [Failures(a, a + b, c, c + d) for a, b, c, d in rows]


@given(seen)
def test_exchanging_the_sides_turns_the_interval_of_a_rate_over(rows: list[tuple[int, int, int, int]]) -> None:
    there = interval_of_rates(failures(rows))
    back = interval_of_rates(
        [Failures(f.control_failed, f.control, f.candidate_failed, f.candidate) for f in failures(rows)]
    )
    assert there.low < there.high
    assert back.low == pytest.approx(1 / there.high if math.isfinite(there.high) else 0.0)


@given(counts, counts, counts, counts)
def test_of_one_stratum_the_estimate_lies_in_its_interval(a: int, b: int, c: int, d: int) -> None:
    one = failures([(a, b, c, d)])
    found = interval_of_rates(one)
    assert found.low <= rate_ratio(one) <= found.high


def test_of_rates_that_differ_by_what_is_known_the_estimate_is_that() -> None:
    strata = [Failures(20, 100, 90, 900), Failures(400, 500, 200, 500)]
    assert rate_ratio(strata) == pytest.approx(2.0, rel=0.01)


def test_a_rate_that_never_failed_is_bounded_from_above_only() -> None:
    found = interval_of_rates([Failures(0, 1_000, 50, 1_000)])
    assert found.low == 0.0
    assert 0.0 < found.high < 0.5
    assert interval_of_rates([Failures(0, 1_000, 0, 1_000), Failures(5, 10, 0, 0)]) == Interval(0.0, math.inf)


def test_no_bound_is_further_than_is_looked_for() -> None:
    found = interval_of_rates([Failures(10**6, 10**6, 0, 10**6)])
    assert 100 < found.low <= FURTHEST
    assert found.high == math.inf


@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_looked_at_all_the_time_a_rate_leaves_its_interval_no_more_often_than_stated(ratio: float) -> None:
    """Nominal 5 % over twenty looks, of 40 fleets; seen: far less."""
    left = 0
    for seed in range(40):
        rng = random.Random(seed)
        failed, found = [0, 0], []
        for look in range(1, LOOKS + 1):
            failed[0] += sum(rng.random() < 0.05 * ratio for _ in range(10))
            failed[1] += sum(rng.random() < 0.05 for _ in range(60))
            found.append(interval_of_rates([Failures(failed[0], 10 * look, failed[1], 60 * look)]))
        left += not all(interval.low <= ratio <= interval.high for interval in found)
    assert left / 40 <= 0.05


def test_looked_at_all_the_time_a_level_leaves_its_interval_no_more_often_than_stated() -> None:
    """The same for a candidate that is a tenth slower."""
    left = 0
    for seed in range(100):
        rng = random.Random(seed)
        new, old = Levels(), Levels()
        found = []
        for _ in range(LOOKS):
            new = _more(new, [rng.gauss(8 + math.log(1.1), 0.1) for _ in range(10)])
            old = _more(old, [rng.gauss(8, 0.1) for _ in range(40)])
            found.append(interval_of_shift(shift([(new, old)])))
        left += not all(interval.low <= 1.1 <= interval.high for interval in found)
        assert found[-1].high / found[-1].low < 1.2
    assert left / 100 <= 0.05


def _more(levels: Levels, values: list[float]) -> Levels:
    return Levels(levels.n + len(values), levels.total + sum(values), levels.squares + sum(v * v for v in values))


def test_the_interval_of_a_level_narrows_and_is_open_while_too_little_is_known() -> None:
    wide, narrow = interval_of_shift(Shift(0.0, 0.05**2)), interval_of_shift(Shift(0.0, 0.01**2))
    assert wide.low < narrow.low < 1 < narrow.high < wide.high
    assert interval_of_shift(None) == Interval(0.0, math.inf)


def test_a_reading_says_how_much_it_rests_on_and_what_it_does_not_exclude() -> None:
    plan = RolloutPlan.model_validate({"steps": [{"share_bp": 1_000}]})
    level = (Levels(80, 800.0, 8_000.8), Levels(900, 9_000.0, 90_009.0))
    new = Seen(windows=100, failed=20, starts=50, log_p90=level[0])
    old = Seen(windows=900, failed=90, starts=700, log_p90=level[1])
    alone = Stratum("sm8650", "camera.seg", 2, Seen(windows=7, failed=7), Seen())
    strata = [Stratum("sm8650", "camera.seg", 2, new, old), alone]
    told = judge(plan, State.RUNNING, 0, 0, 2, strata, {"soc": ["sm8650"], "model": ["camera.seg"]}).to_json()
    reading = {found["measure"]: found for found in told["readings"]}
    assert told["confidence"] == 0.95
    errors, crashes, p90, memory = (
        reading[measure] for measure in (Measure.ERRORS, Measure.CRASHES, Measure.P90_LATENCY, Measure.MEMORY)
    )
    assert (errors["candidate_n"], errors["control_n"]) == (100, 900)
    assert errors["low"] < errors["ratio"] < errors["high"]
    assert (crashes["candidate_n"], crashes["low"], crashes["high"]) == (50, None, None)
    assert (p90["candidate_n"], p90["control_n"]) == (80, 900)
    assert p90["low"] < 1 < p90["high"]
    assert (memory["candidate_n"], memory["low"], memory["high"]) == (0, None, None)
