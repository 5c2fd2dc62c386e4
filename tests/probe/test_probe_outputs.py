"""What a driver computes, operation by operation, against NNAPI's own CPU on the same input (R-D4)."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from probe_builders import CPU, INT8, BuiltProbe, accelerator, script

from policies.fingerprint import fingerprint
from policies.report import parse_report

pytestmark = pytest.mark.slow


def outputs(report: dict[str, Any], device: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = report["nnapi"]["devices"][device]["outputs"]
    return found


def test_a_driver_that_gets_one_operation_wrong_is_told_by_it(built_probe: BuiltProbe) -> None:
    body = built_probe.report_bytes(script(accelerator("miscomputes CONCATENATION"), accelerator(name="google-armnn")))
    wrong, right, cpu = fingerprint(parse_report(body)).accelerators
    names = {one.name: one for one in (wrong, right, cpu)}
    told = names["google-edgetpu"].outputs
    assert told is not None
    assert told.wrong == {"CONCATENATION": ("TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED")}
    well = names["google-armnn"].outputs
    assert well is not None
    assert (well.wrong, well.checked) == ({}, told.checked)
    assert told.checked > 100
    assert names["nnapi-reference"].outputs is None


def test_floats_are_compared_too(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(accelerator("miscomputes SOFTMAX EQUAL", takes="TENSOR_FLOAT32")))
    assert outputs(report)["wrong"] == {"EQUAL": ["TENSOR_FLOAT32"], "SOFTMAX": ["TENSOR_FLOAT32"]}


def test_a_driver_that_dies_of_an_operation_is_asked_the_others(built_probe: BuiltProbe) -> None:
    report = built_probe.report(
        script(accelerator("die computed:ELU", "miscomputes HARD_SWISH", takes="TENSOR_FLOAT32"))
    )
    assert report["probe"]["failures"] == [{"step": "nnapi:google-edgetpu:outputs:ELU", "signal": int(signal.SIGABRT)}]
    assert outputs(report)["wrong"] == {"HARD_SWISH": ["TENSOR_FLOAT32"]}


def test_without_a_cpu_to_compare_with_nothing_is_said(built_probe: BuiltProbe) -> None:
    report = built_probe.report("runtime 1000008\n" + accelerator("miscomputes ADD"))
    assert "outputs" not in report["nnapi"]["devices"][0]


def test_a_driver_that_the_reference_graph_kills_is_left_alone(built_probe: BuiltProbe) -> None:
    assert "outputs" not in built_probe.report(script(accelerator("die compile")))["nnapi"]["devices"][0]


def test_a_driver_that_gets_everything_wrong_names_sixteen_operations(built_probe: BuiltProbe) -> None:
    every = " ".join(built_probe.run("nnfleet-probe", "--questions").stdout.decode().split()[::4])
    report = built_probe.report(script(accelerator(f"miscomputes {every}", takes=f"{INT8} TENSOR_FLOAT32")))
    assert len(outputs(report)["wrong"]) == 16
    assert CPU
