"""Sustained work is ranked by what arms do when the phone is hot, and tries those whose heat nobody knows (R-D3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest

from ml.explore import Budget, Splits, explore
from ml.limits import Exclusion
from ml.rankings import Rankings
from ml.rollup import Cell, Rollup
from ml.sustained import PRIOR_SD, Heat, explored, heats, told_of
from ml.table import Table

NPU, GPU, CPU = "int8.tflite.nnapi.google-edgetpu", "fp16.tflite.gpu", "int8.tflite.cpu"
SOC_OF = {"stack": "tensor-g3"}
NPU_HEAT = ("tensor-g3", "nnapi.google-edgetpu")


def splits_of(arms: Sequence[str], latency_ms: Sequence[float], sd: float = 0.02) -> Splits:
    """One unit whose arms are known well."""
    count = len(arms)
    mean = np.log(np.array(latency_ms))
    rankings = Rankings(
        Table.of({"chipset": ["stack"] * count, "model": ["app/model"] * count, "arm": arms}),
        mean,
        np.full(count, sd),
        np.exp(mean),
        np.full(count, 5),
        np.eye(count)[mean.argmin()],
        np.exp(mean - mean.min()) - 1,
        np.full(count, np.nan),
        np.full(count, Exclusion.NONE.value),
        np.zeros(count, np.bool_),
        np.ones(count, np.bool_),
        np.zeros(count, np.intp),
        np.argsort(mean),
        tuple,
    )
    return explore(rankings)


def weights(splits: Splits) -> dict[str, int]:
    return dict(zip(splits.rankings.cells.arm.tolist(), splits.weight_bp.tolist(), strict=True))


ARMS = (NPU, GPU, CPU)


def hot_splits(splits: Splits, known: Mapping[tuple[str, str], Heat], told: Sequence[str] = ARMS) -> Splits:
    """`told`: arms that windows with a thermal state have measured."""
    return explored(splits, SOC_OF, known, {("stack", "app/model", arm) for arm in told}, Budget())


def led_by(splits: Splits) -> str:
    return next(iter(splits.rankings)).arms[0].arm


def window(model: str, *, hot: bool | None, latency_us: float) -> Rollup:
    return Rollup(Cell("stack", "app", model, NPU), "sustained", hot, windows=3, measured=3, log_p50_us=log(latency_us))


def test_an_arm_that_throttles_loses_the_lead_only_when_hot() -> None:
    bursts = splits_of([NPU, CPU], [10, 12])
    hot = hot_splits(bursts, {NPU_HEAT: Heat(log(1.8), 0.05)})
    assert [arm.arm for arm in next(iter(bursts.rankings)).arms] == [NPU, CPU]
    found = next(iter(hot.rankings)).arms
    assert [(arm.arm, round(arm.latency_ms, 6)) for arm in found] == [(CPU, 12), (NPU, 18)]
    assert sum(weights(hot).values()) == 10_000
    assert weights(hot)[CPU] > 9_000


def test_an_arm_whose_heat_nobody_knows_is_tried_in_sustained_work_and_not_in_bursts() -> None:
    bursts = splits_of([NPU, GPU, CPU], [10, 26, 14])
    hot = hot_splits(bursts, {NPU_HEAT: Heat(log(1.8), 0.05)})
    assert weights(bursts)[GPU] == 0
    assert weights(hot)[GPU] > 0
    assert sum(weights(hot).values()) == 10_000


def test_where_no_heat_was_measured_bursts_decide() -> None:
    bursts = splits_of([NPU, GPU, CPU], [10, 18, 14])
    assert hot_splits(bursts, {}) is bursts
    assert hot_splits(bursts, {("tensor-g1", "gpu"): Heat(0.5, 0.1)}) is bursts


def test_one_hot_cell_moves_the_factor_less_than_many_and_is_less_sure() -> None:
    def heat(models: int) -> Heat:
        rows = [
            window(f"model-{number}", hot=hot, latency_us=18_000 if hot else 10_000)
            for number in range(models)
            for hot in (False, True)
        ]
        return heats(rows, SOC_OF)[NPU_HEAT]

    assert 0 < heat(1).log_factor < heat(4).log_factor < log(1.8)
    assert exp(heat(40).log_factor) == pytest.approx(1.8, rel=0.06)
    assert PRIOR_SD > heat(1).sd > heat(4).sd > 0


def test_an_arm_that_is_faster_when_hot_is_not_believed() -> None:
    rows = [window("model", hot=False, latency_us=10_000), window("model", hot=True, latency_us=9_000)]
    assert heats(rows, SOC_OF)[NPU_HEAT].log_factor == 0


def test_samples_without_thermal_state_put_no_arm_at_the_head_of_sustained_work() -> None:
    """LN-06: the arm leads bursts; in sustained work one does that was measured with the phone's heat, else the CPU."""
    bursts = splits_of([NPU, GPU, CPU], [10, 12, 40])
    assert led_by(bursts) == NPU
    assert led_by(hot_splits(bursts, {}, told=[NPU])) == NPU
    assert led_by(hot_splits(bursts, {}, told=[GPU])) == GPU
    blind = hot_splits(bursts, {}, told=[])
    assert led_by(blind) == CPU
    assert [arm.arm for arm in next(iter(blind.rankings)).arms] == [CPU, NPU, GPU]
    assert weights(blind)[NPU] > 0
    assert sum(weights(blind).values()) == 10_000


def test_what_nobody_measured_was_put_there_by_no_sample() -> None:
    bursts = splits_of([NPU, CPU], [10, 40])
    expected = replace(bursts, rankings=replace(bursts.rankings, reports=np.array([0, 5])))
    assert hot_splits(expected, {}, told=[]) is expected


def test_samples_without_thermal_state_do_not_lead_a_phone_that_throttles_either() -> None:
    bursts = splits_of([NPU, GPU, CPU], [10, 12, 14])
    known = {NPU_HEAT: Heat(log(1.8), 0.05)}
    assert led_by(hot_splits(bursts, known)) == GPU
    assert led_by(hot_splits(bursts, known, told=[NPU])) == CPU


def test_windows_without_thermal_state_are_neither_hot_nor_cool() -> None:
    untold = window("model", hot=None, latency_us=18_000)
    assert heats([window("model", hot=True, latency_us=18_000), untold], SOC_OF) == {}
    assert told_of([untold]) == set()
    assert told_of([window("model", hot=False, latency_us=9_000)]) == {("stack", "app/model", NPU)}
