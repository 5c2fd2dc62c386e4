"""Arms that nobody started: what failed elsewhere is expected to fail here too, cell by cell."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ml.failures import ASSUMED_SHARE, FALLBACK_COST, cost_of_failing, failure_probability
from ml.table import Table

CELLS = Table.of(
    {
        "chipset": ["a"] * 4 + ["b"] * 4,
        "model": ["one", "two", "three", "four"] * 2,
        "arm": ["int8.tflite.qnn"] * 8,
    }
)


def test_a_fleet_without_starts_expects_the_assumed_share() -> None:
    nothing = np.full(8, np.nan)
    assert np.allclose(failure_probability(CELLS, nothing, nothing), ASSUMED_SHARE)


def test_what_fails_for_other_models_on_a_stack_is_expected_to_fail_there_first() -> None:
    starts, failures = np.array([9.0, 9, 9, 0, 9, 9, 9, 0]), np.array([9.0, 9, 9, 0, 0, 0, 0, 0])
    found = failure_probability(CELLS, starts, failures)
    assert found[3] > 0.5 > found[7] > ASSUMED_SHARE
    assert found[0] > 0.9
    assert found[4] < 0.1


def test_a_thousand_failing_starts_of_one_cell_are_one_failing_cell() -> None:
    few, many = (np.array([n, 0.0, 0, 0, 9, 9, 9, 9]) for n in (1.0, 1000.0))
    bad = np.array([1.0, 0, 0, 0, 0, 0, 0, 0])
    assert np.allclose(failure_probability(CELLS, few, bad)[1:4], failure_probability(CELLS, many, 1000 * bad)[1:4])


@given(counts=arrays(np.int64, (2, 8), elements=st.integers(0, 50)))
def test_a_probability_stays_one_and_its_cost_between_one_start_and_the_next_rung(counts: np.ndarray) -> None:
    starts, failures = counts.max(axis=0).astype(float), counts.min(axis=0).astype(float)
    found = failure_probability(CELLS, starts, failures)
    assert ((found > 0) & (found < 1)).all()
    assert ((cost_of_failing(found) > 1) & (cost_of_failing(found) < FALLBACK_COST)).all()
