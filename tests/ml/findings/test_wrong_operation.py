"""Operations that probes found a driver to compute wrongly: a finding before any model fails, and the cause where one does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import pytest
from fleets import DEVICES, MODELS, NPU, changing, healthy_fleet, planted

from ml.findings import Device, devices_of, find
from policies.fingerprint import fingerprint
from policies.report import report_of

TARGET: Final = NPU.split(".", 2)[-1]
NoteRates = Callable[[str, str, str], None]


def compared(*wrong: str, reports: int = 1) -> dict[str, Device]:
    """Probes of every SoC compared outputs; those of soc-3 found these operations wrong."""
    return {
        name: replace(device, reports=reports, miscomputes={TARGET: frozenset(wrong if device.soc == "soc-3" else ())})
        for name, device in DEVICES.items()
    }


@pytest.mark.parametrize(("wrong", "reports", "expected"), [(1, 50, 0), (1, 4, 0), (2, 4, 1), (4, 4, 1)])
def test_an_operation_that_reports_agree_to_be_wrong_is_a_finding(
    wrong: int, reports: int, expected: int, note_rates: NoteRates
) -> None:
    """`wrong` of `reports` reports of one SoC say so."""
    devices = compared(reports=reports)
    well = devices["class-soc-3"]
    devices["class-soc-3"] = replace(well, reports=reports - wrong)
    devices["bad"] = replace(well, reports=wrong, miscomputes={TARGET: frozenset({"CONCATENATION"})})
    found = find([], devices)
    note_rates("wrong-operation", f"{wrong} of {reports} reports", f"found {len(found)} of {expected}")
    assert [(f.name, f.soc, f.target, f.operation) for f in found] == (
        [("wrong-operation", "soc-3", TARGET, "CONCATENATION")] * expected
    )
    for finding in found:
        assert (finding.evidence[0]["device_class"], finding.classes) == ("bad", 1)
        assert not finding.quarantine


def graphs(**operations: str) -> dict[tuple[str, str, str], frozenset[str]]:
    """Every model convolves; those that are named have an operation more."""
    return {
        ("app", model, "int8.tflite"): frozenset({"CONV_2D", operations.get(model.replace("-", "_"), "ADD")})
        for model in MODELS
    }


def test_what_probes_measured_names_the_operation_where_models_are_too_few_to_tell() -> None:
    rows = planted(
        healthy_fleet(np.random.default_rng(0)), "soc-3", NPU,
        changing(golden_failed=lambda row: row.windows * (row.cell.model == "model-1")),
    )  # fmt: skip
    files = graphs(model_1="CONCATENATION")
    devices = compared("CONCATENATION", "SOFTMAX", reports=3)
    [inferred] = find(rows, DEVICES, files)
    [measured] = [finding for finding in find(rows, devices, files) if finding.name == "wrong-output"]
    assert (inferred.operation, measured.operation) == (None, "CONCATENATION")
    assert measured.evidence[-1] == {"probed_classes": 1, "probed_wrong": "CONCATENATION, SOFTMAX"}
    assert measured.p_value == inferred.p_value


def test_an_inaccurate_driver_is_explained_by_the_one_operation_that_probes_found_wrong() -> None:
    rows = planted(
        healthy_fleet(np.random.default_rng(1)), "soc-3", NPU,
        changing(golden_log_error=lambda row: row.golden_log_error + 3),
    )  # fmt: skip
    outlier = {finding.name: finding for finding in find(rows, compared("CONCATENATION", reports=3))}[
        "accuracy-outlier"
    ]
    assert outlier.operation == "CONCATENATION"
    two = {finding.name: finding for finding in find(rows, compared("CONCATENATION", "ADD", reports=3))}
    assert two["accuracy-outlier"].operation is None


def test_an_operation_that_no_failing_model_has_is_not_blamed() -> None:
    rows = planted(
        healthy_fleet(np.random.default_rng(2)), "soc-3", NPU,
        changing(golden_failed=lambda row: row.windows * (row.cell.model == "model-1")),
    )  # fmt: skip
    found = find(rows, compared("SOFTMAX", reports=3), graphs(model_1="CONCATENATION"))
    assert [finding.operation for finding in found if finding.name == "wrong-output"] == [None]


def test_one_class_of_three_that_says_so_is_not_believed() -> None:
    rows = planted(
        healthy_fleet(np.random.default_rng(1)), "soc-3", NPU,
        changing(golden_log_error=lambda row: row.golden_log_error + 3),
    )  # fmt: skip
    others = {f"other-{n}": replace(DEVICES["class-soc-3"], miscomputes={TARGET: frozenset()}) for n in range(2)}
    found = {finding.name: finding for finding in find(rows, compared("CONCATENATION") | others)}
    assert found["accuracy-outlier"].operation is None
    assert "probed_wrong" not in found["accuracy-outlier"].evidence[-1]


def test_the_drivers_of_a_report_say_what_they_miscompute() -> None:
    driver = {"name": "mtk-neuron", "type": "accelerator", "version": "8.2", "feature_level": 31}
    body = {"schema": 1, "device": {"manufacturer": "x", "model": "y", "api_level": 33}}
    for outputs, told in (({"checked": 9, "wrong": {"ADD": ["TENSOR_FLOAT32"]}}, {TARGET: {"ADD"}}), (None, {})):
        phone = fingerprint(report_of(body | {"nnapi": {"devices": [{**driver, "outputs": outputs}]}}))
        assert devices_of([phone])[phone.device_class].miscomputes == told
