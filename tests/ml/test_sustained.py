"""Sustained work is ranked by what arms do when the phone is hot."""

from __future__ import annotations

from math import log

import pytest

from ml.explore import Split, Weight
from ml.limits import Exclusion
from ml.rankings import RankedArm, Ranking
from ml.rollup import Cell, Rollup
from ml.sustained import hot_log_factors, sustained

NPU, GPU, CPU = "int8.tflite.nnapi.google-edgetpu", "fp16.tflite.gpu", "int8.tflite.cpu"


def ranked(arm: str, latency_ms: float) -> RankedArm:
    return RankedArm(arm, latency_ms, latency_ms, 0.1, 5, 0.5, 0.5, 0.0, Exclusion.NONE)


def ranking(*arms: RankedArm) -> Ranking:
    return Ranking("stack", "app.model", arms, (), measured=True)


def window(model: str, *, hot: bool, latency_us: float) -> Rollup:
    return Rollup(Cell("stack", "app", model, NPU), "sustained", hot, windows=3, measured=3, log_p50_us=log(latency_us))


def test_an_arm_that_throttles_loses_the_lead_only_when_hot() -> None:
    split = Split("stack", "app.model", (Weight(NPU, 9_500, explore=False), Weight(GPU, 500, explore=True)))
    hot, hot_split = sustained(
        ranking(ranked(NPU, 10), ranked(CPU, 12)), split, "tensor-g3", {("tensor-g3", NPU[12:]): log(1.8)}
    )
    assert [(arm.arm, round(arm.latency_ms, 6)) for arm in hot.arms] == [(CPU, 12), (NPU, 18)]
    assert hot_split.weights == (Weight(CPU, 9_500, explore=False), Weight(GPU, 500, explore=True))


def test_weights_still_add_up_where_the_new_leader_was_being_explored() -> None:
    split = Split("stack", "app.model", (Weight(NPU, 9_000, explore=False), Weight(CPU, 1_000, explore=True)))
    _, hot_split = sustained(ranking(ranked(NPU, 10), ranked(CPU, 12)), split, "g3", {("g3", NPU[12:]): log(2)})
    assert hot_split.weights == (Weight(CPU, 10_000, explore=False),)


def test_without_heat_nothing_changes() -> None:
    split = Split("stack", "app.model", (Weight(NPU, 10_000, explore=False),))
    given = ranking(ranked(NPU, 10), ranked(CPU, 12))
    assert sustained(given, split, "g3", {}) == (given, split)


def test_one_hot_cell_moves_the_factor_less_than_many() -> None:
    def factor(models: int) -> float:
        rows = [
            window(f"model-{number}", hot=hot, latency_us=18_000 if hot else 10_000)
            for number in range(models)
            for hot in (False, True)
        ]
        return hot_log_factors(rows, {"stack": "g3"})["g3", NPU[12:]]

    assert 0 < factor(1) < factor(4) < log(1.8)
    assert factor(40) == pytest.approx(log(1.8), rel=0.06)


def test_an_arm_that_is_faster_when_hot_is_not_believed() -> None:
    rows = [window("model", hot=False, latency_us=10_000), window("model", hot=True, latency_us=9_000)]
    assert hot_log_factors(rows, {"stack": "g3"})["g3", NPU[12:]] == 0
