"""No single device class decides for a driver stack where others can contradict it."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest

from ml.limits import CellFacts, Exclusion, Limits, exclusions
from ml.pooling import pooled
from ml.rollup import Cell, CellSummary, Rollup, regrouped, summaries

ARM = "int8.tflite.nnapi.mtk-neuron"


def window_of(device_class: str, ms: float = 10.0, windows: int = 20, **counts: int) -> Rollup:
    cell = Cell(device_class, "camera", "faces", ARM)
    said = Rollup(cell, "burst", False, windows, windows, log(ms * 1e3), golden_checked=windows, attempts=windows)
    return replace(said, **counts)


def stack(*rows: Rollup) -> CellSummary:
    [summary] = pooled(rows, {row.cell.group: "stack" for row in rows}).values()
    return summary


def excluded(summary: CellSummary) -> str:
    counts = {
        "runs": summary.starts, "errors": summary.failures,
        "golden_checks": summary.golden_checked, "golden_failures": summary.golden_failed,
    }  # fmt: skip
    facts = CellFacts({name: np.array([float(count)]) for name, count in counts.items()})
    return str(exclusions(facts, 1, Limits())[0])


LIES = {
    "crashes": ({"crashed": 5_000}, Exclusion.ERRORS),
    "hangs": ({"windows": 5_000, "timed_out": 5_000}, Exclusion.ERRORS),
    "wrong outputs": ({"golden_checked": 5_000, "golden_failed": 5_000}, Exclusion.GOLDEN),
}


@pytest.mark.parametrize("counts", [counts for counts, _ in LIES.values()], ids=list(LIES))
def test_one_class_that_claims_thousands_of_failures_puts_no_arm_out_for_the_others(counts: dict[str, int]) -> None:
    assert excluded(stack(window_of("a"), window_of("b"), window_of("fake", **counts))) == Exclusion.NONE


@pytest.mark.parametrize(("counts", "why"), LIES.values(), ids=list(LIES))
def test_an_arm_that_fails_in_every_class_is_put_out(counts: dict[str, int], why: Exclusion) -> None:
    assert excluded(stack(*(window_of(name, **counts) for name in "abc"))) == why


@pytest.mark.parametrize(("counts", "why"), LIES.values(), ids=list(LIES))
def test_two_classes_cannot_contradict_each_other_and_are_believed(counts: dict[str, int], why: Exclusion) -> None:
    assert excluded(stack(window_of("a"), window_of("b", **counts))) == why


@pytest.mark.parametrize("claimed_ms", [0.6, 190.0])
def test_one_class_that_claims_another_latency_moves_the_stack_by_no_more_than_the_others_differ(
    claimed_ms: float,
) -> None:
    lie = window_of("fake", claimed_ms, windows=100_000)
    found = stack(window_of("a", 10.0), window_of("b", 11.0), lie)
    assert log(10e3) <= found.log_p50_us <= log(11e3)


def test_the_middle_of_four_equal_classes_lies_between_the_inner_two() -> None:
    found = stack(*(window_of(name, ms) for name, ms in zip("abcd", (1.0, 10.0, 40.0, 900.0), strict=True)))
    assert found.log_p50_us == pytest.approx((log(10e3) + log(40e3)) / 2)


def test_fewer_classes_are_pooled_by_their_windows_as_ever() -> None:
    rows = [window_of("a", 10.0, windows=4), window_of("b", 20.0, windows=12), window_of("elsewhere", 1.0)]
    stack_of = {"a": "stack", "b": "stack"}
    assert pooled(rows, stack_of) == summaries(regrouped(rows, stack_of))
