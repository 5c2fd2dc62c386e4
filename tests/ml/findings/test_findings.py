"""Detectors find planted faults and stay quiet on healthy fleets, from rollups as the database gives them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from fleets import CPU, DEVICES, MODELS, NPU, changing, healthy_fleet, planted, window_rollup

from ml.findings import find
from ml.findings.finding import Finding
from ml.rollup import Cell, Rollup


def names(findings: Iterable[Finding]) -> set[tuple[str, str]]:
    return {(finding.name, finding.soc) for finding in findings}


def cpu_time(rows: list[Rollup], row: Rollup) -> float:
    return next(
        r.log_p50_us
        for r in rows
        if r.cell.group == row.cell.group and r.cell.model == row.cell.model and r.cell.arm == CPU and r.hot == row.hot
    )


def test_a_slow_accelerator_that_took_half_the_graph_is_no_phantom() -> None:
    fleet = healthy_fleet(np.random.default_rng(0))
    rows = planted(fleet, "soc-5", NPU, changing(log_p50_us=lambda row: cpu_time(fleet, row), delegated_share=0.5))
    assert "phantom-acceleration" not in {finding.name for finding in find(rows, DEVICES)}


def test_a_gpu_as_fast_as_the_cpu_is_no_phantom() -> None:
    fleet = healthy_fleet(np.random.default_rng(0))
    arm = "int8.tflite.gpu"
    extra = [
        window_rollup("soc-1", model, arm, hot=False, windows=6, log_p50_us=row.log_p50_us)
        for model in MODELS
        for row in fleet
        if row.cell == Cell("class-soc-1", "app", model, CPU) and not row.hot
    ]
    assert find([*fleet, *extra], DEVICES) == []


def test_one_stray_crash_among_many_starts_is_no_finding() -> None:
    rows = healthy_fleet(np.random.default_rng(1), windows=60)
    rows[0] = planted(rows[:1], "soc-0", NPU, changing(crashed=1))[0]
    assert find(rows, DEVICES) == []


def test_two_faults_at_once_are_both_found() -> None:
    rows = planted(
        healthy_fleet(np.random.default_rng(2)), "soc-1", NPU, changing(golden_failed=lambda row: row.windows)
    )
    rows = planted(rows, "soc-2", NPU, changing(crashed=3))
    assert names(find(rows, DEVICES)) == {("wrong-output", "soc-1"), ("crash", "soc-2")}


def test_an_arm_id_from_an_app_of_its_own_making_is_no_trouble() -> None:
    rows = [window_rollup("soc-1", "model-1", "my-own-arm", hot=False, windows=3, log_p50_us=8.0)]
    assert find(rows, DEVICES) == []


def test_a_class_whose_soc_is_not_told_is_left_out() -> None:
    rows = [window_rollup("elsewhere", "model-1", NPU, hot=False, windows=3, log_p50_us=8.0)]
    assert find(rows, DEVICES) == []


def test_the_proposed_quarantine_names_the_model_that_fails_and_spares_the_others() -> None:
    """R-E5: one model's INT8 crashes on every SoC; the other models keep the driver."""
    rows = [
        replace(row, crashed=row.attempts) if row.cell.model == "model-2" and row.cell.arm == NPU else row
        for row in healthy_fleet(np.random.default_rng(3))
    ]
    crashes = [finding for finding in find(rows, DEVICES) if finding.name == "crash"]
    assert {finding.soc for finding in crashes} == {device.soc for device in DEVICES.values()}
    for crash in crashes:
        assert crash.quarantine["model"] == "app/model-2"
        assert crash.quarantine["soc"] == crash.soc
        assert (crash.quarantine["target"], crash.quarantine["precision"]) == ("nnapi.mtk-neuron", "int8")
    assert all(finding.to_json()["quarantine"] for finding in crashes)
