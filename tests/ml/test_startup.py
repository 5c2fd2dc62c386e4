"""Start-up is part of a session's cost: measured where it was, else like that of like arms."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ml.rollup import Cell, Rollup, summaries
from ml.startup import SESSION_RUNS, startup_ms

TIMED = Cell("stack-1", "camera", "faces", "int8.tflite.qnn")
ROLLUP = Rollup(TIMED, "burst", False, windows=4, measured=4, load_us=2_000, compile_us=300_000, cold_share=0.25)


def per_run(cell: Cell, *rollups: Rollup) -> float:
    return float(startup_ms([cell], summaries(rollups))[0] * SESSION_RUNS)


def test_a_start_costs_its_loading_and_its_compiling_as_often_as_it_is_cold() -> None:
    assert per_run(TIMED, ROLLUP) == pytest.approx(2.0 + 0.25 * 300.0)


def test_an_arm_whose_starts_nobody_timed_takes_those_of_like_arms_on_its_stack_first() -> None:
    elsewhere = replace(ROLLUP, cell=TIMED._replace(group="stack-2"), compile_us=700_000)
    other_precision = TIMED._replace(arm="fp16.tflite.qnn")
    assert per_run(other_precision, ROLLUP, elsewhere) == pytest.approx(77.0)
    assert per_run(other_precision._replace(group="stack-3"), ROLLUP, elsewhere) == pytest.approx((77.0 + 177.0) / 2)
    assert per_run(TIMED._replace(arm="int8.tflite.gpu"), ROLLUP) == 0.0
