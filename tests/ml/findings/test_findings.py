"""Detectors find planted faults and stay quiet on healthy fleets, from rollups as the database gives them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from ml.findings import find
from ml.findings.finding import Finding
from ml.rollup import Cell, Rollup

SOCS = [f"soc-{number}" for number in range(12)]
SOC_OF = {f"class-{soc}": soc for soc in SOCS}
MODELS = [f"model-{number}" for number in range(6)]
NPU, CPU = "int8.tflite.nnapi.mtk-neuron", "int8.tflite.cpu"


def healthy_fleet(rng: np.random.Generator, windows: int = 6) -> list[Rollup]:
    """Every SoC runs every model on an NPU, 3 × as fast as its CPU; hot windows take 5 % longer; nothing fails."""
    rows = []
    for soc in SOCS:
        for model in MODELS:
            base = rng.normal(np.log(9_000), 0.6)
            speedup = rng.normal(np.log(3), 0.2)
            for arm, log_us in ((NPU, base - speedup), (CPU, base)):
                for hot in (False, True):
                    noise = 0.05 * rng.standard_normal() + 0.05 * hot
                    rows.append(window_rollup(soc, model, arm, hot=hot, windows=windows, log_p50_us=log_us + noise))
    return rows


def window_rollup(soc: str, model: str, arm: str, *, hot: bool, windows: int, log_p50_us: float) -> Rollup:
    return Rollup(
        Cell(f"class-{soc}", "app", model, arm),
        "sustained" if hot else "burst",
        hot,
        windows=windows,
        measured=windows,
        log_p50_us=log_p50_us,
        golden_checked=windows,
        attempts=windows,
        delegated_share=0.0 if arm == CPU else 1.0,
    )


def planted(rows: Iterable[Rollup], soc: str, arm: str, **changes: object) -> list[Rollup]:
    """The fleet with something different about one SoC's arm. A callable change is given the rollup."""
    from dataclasses import replace

    return [
        replace(row, **{k: v(row) if callable(v) else v for k, v in changes.items()})
        if row.cell.group == f"class-{soc}" and row.cell.arm == arm
        else row
        for row in rows
    ]


def names(findings: Iterable[Finding]) -> set[tuple[str, str]]:
    return {(finding.name, finding.soc) for finding in findings}


def cpu_time(rows: list[Rollup], row: Rollup) -> float:
    return next(
        r.log_p50_us
        for r in rows
        if r.cell.group == row.cell.group and r.cell.model == row.cell.model and r.cell.arm == CPU and r.hot == row.hot
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_healthy_fleet_raises_no_finding(seed: int) -> None:
    assert find(healthy_fleet(np.random.default_rng(seed)), SOC_OF) == []


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("name", "plant"),
    [
        ("wrong-output", {"golden_failed": lambda row: row.windows}),
        ("crash", {"crashed": 2}),
        ("hang", {"timed_out": 2}),
        ("thermal-step", {"log_p50_us": lambda row: row.log_p50_us + (np.log(1.8) if row.hot else 0.0)}),
    ],
)
def test_a_planted_fault_is_found_on_its_soc_and_nowhere_else(name: str, plant: dict[str, object], seed: int) -> None:
    rows = planted(healthy_fleet(np.random.default_rng(seed)), "soc-3", NPU, **plant)
    assert names(find(rows, SOC_OF)) == {(name, "soc-3")}


@pytest.mark.parametrize("seed", range(5))
def test_an_accelerator_as_fast_as_the_cpu_is_a_phantom(seed: int) -> None:
    fleet = healthy_fleet(np.random.default_rng(seed))
    rows = planted(fleet, "soc-5", NPU, log_p50_us=lambda row: cpu_time(fleet, row) + 0.03)
    assert names(find(rows, SOC_OF)) == {("phantom-acceleration", "soc-5")}


def test_a_slow_accelerator_that_took_half_the_graph_is_no_phantom() -> None:
    fleet = healthy_fleet(np.random.default_rng(0))
    rows = planted(fleet, "soc-5", NPU, log_p50_us=lambda row: cpu_time(fleet, row), delegated_share=0.5)
    assert find(rows, SOC_OF) == []


def test_a_gpu_as_fast_as_the_cpu_is_no_phantom() -> None:
    fleet = healthy_fleet(np.random.default_rng(0))
    arm = "int8.tflite.gpu"
    extra = [
        window_rollup("soc-1", model, arm, hot=False, windows=6, log_p50_us=row.log_p50_us)
        for model in MODELS
        for row in fleet
        if row.cell == Cell("class-soc-1", "app", model, CPU) and not row.hot
    ]
    assert find([*fleet, *extra], SOC_OF) == []


def test_one_stray_crash_among_many_starts_is_no_finding() -> None:
    rows = healthy_fleet(np.random.default_rng(1), windows=60)
    rows[0] = planted(rows[:1], "soc-0", NPU, crashed=1)[0]
    assert find(rows, SOC_OF) == []


def test_two_faults_at_once_are_both_found() -> None:
    rows = planted(healthy_fleet(np.random.default_rng(2)), "soc-1", NPU, golden_failed=lambda row: row.windows)
    rows = planted(rows, "soc-2", NPU, crashed=3)
    assert names(find(rows, SOC_OF)) == {("wrong-output", "soc-1"), ("crash", "soc-2")}


def test_an_arm_id_from_an_app_of_its_own_making_is_no_trouble() -> None:
    rows = [window_rollup("soc-1", "model-1", "my-own-arm", hot=False, windows=3, log_p50_us=8.0)]
    assert find(rows, SOC_OF) == []


def test_a_class_whose_soc_is_not_told_is_left_out() -> None:
    rows = [window_rollup("elsewhere", "model-1", NPU, hot=False, windows=3, log_p50_us=8.0)]
    assert find(rows, SOC_OF) == []
