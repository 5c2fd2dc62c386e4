"""Detectors find planted faults and stay quiet on healthy fleets, from rollups as the database gives them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from fleets import CPU, DEVICES, FLOAT_NPU, MODELS, NPU, changing, healthy_fleet, planted, window_rollup

from ml.findings import Device, find
from ml.findings.finding import Finding, over_cells
from ml.findings.operation import suspect
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


def test_a_phantom_says_what_the_probes_of_its_chip_measured() -> None:
    fleet = healthy_fleet(np.random.default_rng(0))
    rows = planted(fleet, "soc-5", NPU, changing(log_p50_us=lambda row: cpu_time(fleet, row)))
    target = NPU.split(".", 2)[2]
    probed = {
        name: replace(device, no_faster={target: True}) if device.soc == "soc-5" else device
        for name, device in DEVICES.items()
    }
    (found,) = (one for one in find(rows, probed) if one.name == "phantom-acceleration")
    (asked,) = (one for one in find(rows, DEVICES) if one.name == "phantom-acceleration")
    assert found.evidence[:-1] == asked.evidence
    assert found.evidence[-1] == {"probed_classes": 1, "probed_no_faster_than_cpu": 1}
    assert found.p_value == asked.p_value


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


def test_a_model_that_fails_on_every_chip_is_one_finding_of_the_model_and_none_of_a_driver() -> None:
    """R-E5: one model's INT8 crashes on every SoC; the other models keep the driver."""
    rows = [
        replace(row, crashed=row.attempts) if row.cell.model == "model-2" and row.cell.arm == NPU else row
        for row in healthy_fleet(np.random.default_rng(3))
    ]
    [crash] = find(rows, DEVICES)
    assert (crash.name, crash.soc, crash.arms) == ("model-crash", "*", "int8.tflite.nnapi.*")
    assert crash.socs == tuple(sorted(device.soc for device in DEVICES.values()))
    assert crash.to_json()["of"] == {"format": "tflite", "model": "app/model-2"}
    assert crash.may_quarantine


def test_a_file_that_computes_wrongly_on_phones_of_many_makers_is_suspected_before_their_drivers() -> None:
    """LN-02: seven phones of five SoCs get one model wrong, and right on the CPU; another model is right on the same driver."""
    devices, rows = wrong_on_seven_phones()
    [found] = find(rows, devices)
    assert (found.name, found.socs) == ("model-wrong-output", ("soc-0", "soc-1", "soc-2", "soc-3", "soc-4"))
    assert found.quarantine == {
        "target": "nnapi.*", "precision": "int8", "format": "tflite", "model": "app/wrong"
    }  # fmt: skip
    assert "on 5 of 5 SoCs that could tell: 7 device classes of 2 API levels" in found.detail
    assert found.evidence[0] == {
        "soc": "soc-0", "arms": NPU, "classes": 2, "api_levels": "29, 33", "failed": 18, "tried": 18
    }  # fmt: skip
    assert found.control is not None
    assert (found.control.failed, found.control.control_failed, found.classes) == (7, 0, 7)
    assert found.may_quarantine


def test_a_file_that_is_wrong_on_the_cpu_too_accuses_no_delegate() -> None:
    devices, rows = wrong_on_seven_phones()
    everywhere = [replace(row, golden_failed=9) if row.cell.model == "wrong" else row for row in rows]
    assert "model-wrong-output" not in {finding.name for finding in find(everywhere, devices)}


def test_drivers_that_get_most_models_wrong_are_accused_themselves() -> None:
    devices, rows = wrong_on_seven_phones()
    every_model = [replace(row, golden_failed=9) if row.cell.arm == NPU else row for row in rows]
    assert {finding.name for finding in find(every_model, devices)} == {"wrong-output"}


def wrong_on_seven_phones() -> tuple[dict[str, Device], list[Rollup]]:
    socs = ("soc-0", "soc-1", "soc-0", "soc-2", "soc-1", "soc-3", "soc-4")
    devices = {
        f"class-{n}": Device(soc, phone=f"phone-{n}", api_level=33 if n < 2 else 29) for n, soc in enumerate(socs)
    }
    rows = [
        Rollup(Cell(name, "app", model, arm), "burst", hot=False, windows=9, golden_checked=9, golden_failed=failed)
        for name in devices
        for model, arm, failed in (("wrong", NPU, 9), ("wrong", CPU, 0), ("right", NPU, 0))
    ]
    return devices, rows


def test_of_few_cells_too_the_quarantine_spares_the_models_that_compute_right() -> None:
    """R-E5: one SoC gets one model wrong; too few cells for a scan to say so."""
    devices, rows = wrong_on_seven_phones()
    here = [row for row in rows if devices[row.cell.group].soc == "soc-0"]
    [found] = find(here, devices)
    assert (found.name, found.quarantine["soc"], found.quarantine["model"]) == ("wrong-output", "soc-0", "app/wrong")


def test_a_cohort_of_other_phones_is_no_cohort_of_a_findings() -> None:
    """One file runs nowhere, on phones of other SoCs; on one SoC, which has not tried it, no other file runs."""
    healthy = healthy_fleet(np.random.default_rng(9))
    rows = planted(healthy, "soc-5", NPU, changing(failed=lambda row: row.windows))
    rows = planted(rows, "soc-5", FLOAT_NPU, changing(failed=lambda row: row.windows))
    rows = [
        replace(row, failed=row.windows) if (row.cell.model, row.cell.arm) == ("model-2", NPU) else row
        for row in rows
        if (row.cell.group, row.cell.model) != ("class-soc-5", "model-2")
    ]
    [found] = find(rows, DEVICES)
    assert (found.name, found.quarantine["soc"], found.quarantine.get("model")) == ("does-not-run", "soc-5", None)
    assert found.control is not None
    assert (found.control.trials, found.control.failed) == (10, 10)


def test_a_driver_that_crashes_in_every_precision_is_one_finding() -> None:
    planted_twice = crashing(healthy_fleet(np.random.default_rng(10)), "soc-3")
    [crash] = find(planted(planted_twice, "soc-3", FLOAT_NPU, changing(crashed=lambda row: row.attempts)), DEVICES)
    assert (crash.name, crash.soc, crash.arms) == ("crash", "soc-3", f"*.*.{NPU.split('.', 2)[2]}")
    assert crash.quarantine == {"soc": "soc-3", "target": NPU.split(".", 2)[2]}
    assert len(crash.evidence) == 12, "one row an arm of a model"


def test_where_int8_is_slower_float_is_not_what_a_quarantine_would_take_away() -> None:
    rows = planted(
        healthy_fleet(np.random.default_rng(12)), "soc-4", NPU, changing(log_p50_us=lambda row: row.log_p50_us + 0.9)
    )
    [slower] = [finding for finding in find(rows, DEVICES) if finding.name == "int8-slower"]
    assert slower.quarantine == {"soc": "soc-4", "target": NPU.split(".", 2)[2], "precision": "int8"}


def test_starts_that_a_window_followed_are_starts_though_no_phone_sends_their_mark() -> None:
    """Two stray crashes in hundreds of starts: the marks of the others were never sent."""
    rows = [replace(row, attempts=0) for row in healthy_fleet(np.random.default_rng(11), windows=60)]
    rows[0] = planted(rows[:1], "soc-0", NPU, changing(attempts=2, crashed=2))[0]
    assert find(rows, DEVICES) == []


def crashing(rows: Iterable[Rollup], soc: str, *, cpu_too: bool = False) -> list[Rollup]:
    """Every start of the SoC's NPU ends the process; with `cpu_too` those of its CPU as well."""
    found = planted(rows, soc, NPU, changing(crashed=lambda row: row.attempts))
    return planted(found, soc, CPU, changing(crashed=lambda row: row.attempts)) if cpu_too else found


def twice(rows: Iterable[Rollup]) -> tuple[list[Rollup], dict[str, Device]]:
    """Two device classes of every SoC, with the same cells."""
    both = list(rows)
    both += [replace(row, cell=row.cell._replace(group=f"other-{row.cell.group}")) for row in both]
    return both, DEVICES | {f"other-{name}": device for name, device in DEVICES.items()}


def test_a_cohort_that_fails_where_its_control_works_may_be_quarantined_without_a_person() -> None:
    [crash] = find(*twice(crashing(healthy_fleet(np.random.default_rng(4)), "soc-4")))
    assert crash.control is not None
    assert (crash.control.trials, crash.control.failed, crash.control.classes) == (12, 12, 2)
    assert (crash.control.control_trials, crash.control.control_failed) == (24, 0)
    assert crash.may_quarantine
    assert crash.to_json()["may_quarantine"]


def test_a_poisoned_class_raises_a_finding_and_no_quarantine_without_a_person() -> None:
    """Somebody sends one class's report and claims crash after crash: the class's twin on the same SoC goes on well."""
    rows, devices = twice(healthy_fleet(np.random.default_rng(8)))
    poisoned = [
        replace(row, attempts=row.attempts + 5_000, crashed=5_000)
        if row.cell.group == "class-soc-2" and row.cell.arm == NPU
        else row
        for row in rows
    ]
    [crash] = [finding for finding in find(poisoned, devices) if finding.soc == "soc-2"]
    assert crash.name == "crash"
    assert crash.control is not None
    assert crash.control.classes == 1
    assert not crash.may_quarantine
    assert {finding.soc for finding in find(poisoned, devices)} == {"soc-2"}


def test_phones_that_crash_on_the_cpu_too_are_found_and_not_quarantined_by_themselves() -> None:
    [crash] = find(crashing(healthy_fleet(np.random.default_rng(5)), "soc-5", cpu_too=True), DEVICES)
    float_npu = 6
    assert crash.control is not None
    assert crash.control.control_failed == crash.control.control_trials - float_npu
    assert not crash.control.holds
    assert not crash.may_quarantine


def test_severity_is_who_has_it_and_how_much_of_the_fleets_use_is_theirs() -> None:
    [crash] = find(crashing(healthy_fleet(np.random.default_rng(6)), "soc-6"), DEVICES)
    assert crash.classes == 1
    assert crash.uses == pytest.approx(1 / len(DEVICES), rel=0.4)


def test_the_operation_that_the_failing_graphs_share_is_named() -> None:
    """R-E4: wrong outputs by operation, without any phone checking one: the models that have it fail, the others work."""
    concatenates = {model: bool(number % 2) for number, model in enumerate(MODELS)}
    graphs = {
        ("app", model, "int8.tflite"): frozenset({"CONV_2D", f"OF_{model}"} | ({"CONCATENATION"} if has else set()))
        for model, has in concatenates.items()
    }
    rows = healthy_fleet(np.random.default_rng(7), models=12)
    for soc in ("soc-7", "soc-8"):
        wrong_there = changing(golden_failed=lambda row: row.windows * concatenates[row.cell.model])
        rows = planted(rows, soc, NPU, wrong_there)
    wrong = [finding for finding in find(rows, DEVICES, graphs) if finding.name == "wrong-output"]
    assert {finding.operation for finding in wrong} == {"CONCATENATION"}
    assert all(finding.operation is None for finding in find(rows, DEVICES))


def test_an_operation_is_blamed_only_where_enough_graphs_tell_it_apart() -> None:
    bad, good = frozenset({"A", "B"}), frozenset({"A"})
    assert suspect({bad: True, good: False}) is None
    assert suspect({bad: True}) is None
    many = {frozenset({"A", "B", f"C{n}"}): True for n in range(5)} | {
        frozenset({"A", f"D{n}"}): False for n in range(5)
    }
    assert suspect(many) == "B"
    twins = {frozenset({*graph, "B2"}) if failed else graph: failed for graph, failed in many.items()}
    assert suspect(twins) is None


def test_details_count_cells_in_words() -> None:
    assert [over_cells(count) for count in (1, 4)] == ["over 1 cell", "over 4 cells"]
