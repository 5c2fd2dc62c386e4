"""A driver that aborts, hangs, refuses or computes wrongly becomes a fact in the report, and harms nothing else."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
from probe_builders import BuiltProbe, accelerator, script

from policies.fingerprint import fingerprint
from policies.report import parse_report

pytestmark = pytest.mark.slow

ABORT = int(signal.SIGABRT)
IMPATIENT = {"silence": 1_000}


def first(report: dict[str, Any]) -> dict[str, Any]:
    device: dict[str, Any] = report["nnapi"]["devices"][0]
    return device


def failures(report: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = report["probe"]["failures"]
    return found


def test_a_driver_that_aborts_while_compiling_is_reported_and_the_next_one_is_probed(built_probe: BuiltProbe) -> None:
    report = built_probe.report(
        script(accelerator("die compile"), accelerator(name="google-armnn", takes="TENSOR_FLOAT32"))
    )
    assert first(report)["probe"] == {"status": "crashed", "type": "TENSOR_QUANT8_ASYMM_SIGNED"}
    assert first(report)["supports"]["ADD"] == ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"]
    assert failures(report) == [{"step": "nnapi:google-edgetpu:compile", "signal": ABORT}]
    assert report["nnapi"]["devices"][1]["probe"]["status"] == "ok"


def test_a_driver_that_aborts_while_running_keeps_what_was_measured_before(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(accelerator("compile_ms 4", "die execute")))
    assert first(report)["probe"]["status"] == "crashed"
    assert "compile_ms" in first(report)["probe"]
    assert failures(report) == [{"step": "nnapi:google-edgetpu:execute", "signal": ABORT}]


def test_a_driver_that_hangs_is_killed(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(accelerator("hang execute")), **IMPATIENT)
    assert first(report)["probe"]["status"] == "hung"
    assert {"step": "nnapi:google-edgetpu:execute", "timeout": True} in failures(report)


def test_a_driver_that_dies_of_one_question_is_asked_the_others(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(accelerator("die asked:ELU")))
    assert failures(report) == [
        {"step": "nnapi:google-edgetpu:supports:ELU", "signal": ABORT},
        {"step": "nnapi:google-edgetpu:supports:ELU", "signal": ABORT},
    ]
    assert "ELU" not in first(report)["supports"]
    assert "HARD_SWISH" in first(report)["supports"]
    assert first(report)["probe"]["status"] == "ok"


def test_a_driver_that_dies_of_many_questions_is_left_alone(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(accelerator("die asked:ADD asked:CONCATENATION")))
    assert len(failures(report)) == 3
    assert first(report)["supports"] == {}


def test_wrong_outputs_are_found(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(accelerator("wrong")))
    assert first(report)["probe"]["status"] == "wrong-output"


def test_a_driver_that_refuses_to_compile_says_with_which_code(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(accelerator("fail compile 14")))
    assert first(report)["probe"]["status"] == "failed"
    assert first(report)["probe"]["error"] == "compile:14"
    assert failures(report) == []


def test_a_driver_that_takes_no_reference_graph_has_no_run(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(accelerator("refuses CONV_2D")))
    assert "probe" not in first(report)
    assert failures(report) == []


def test_a_phantom_is_as_slow_as_the_forced_cpu_beside_it(built_probe: BuiltProbe) -> None:
    phantom = accelerator("execute_ms 60", name="phantom", takes="TENSOR_FLOAT32")
    honest = accelerator("execute_ms 1")
    said = script(phantom, honest) + "execute_ms 60\n"
    slow, fast, _ = built_probe.report(said)["nnapi"]["devices"]
    assert 0.5 < slow["probe"]["execute_ms"] / slow["probe"]["cpu_execute_ms"] < 2
    assert fast["probe"]["execute_ms"] < fast["probe"]["cpu_execute_ms"] / 3


def test_a_compilation_is_measured_cold_and_from_the_cache(built_probe: BuiltProbe, tmp_path: Path) -> None:
    report = built_probe.report(script(accelerator("compile_ms 200", "cached_ms 1")), work=tmp_path)
    assert first(report)["probe"]["compile_ms"] >= 200
    assert first(report)["probe"]["cached_compile_ms"] < 100
    assert list(tmp_path.iterdir()) == []


def test_memory_of_the_driver_is_asked_for_not_assumed(built_probe: BuiltProbe) -> None:
    assert built_probe.report(script(accelerator("no_memory")))["memory"]["memory_domains"] is False
    assert built_probe.report(script(accelerator()))["memory"]["memory_domains"] is True


def test_a_graphics_driver_that_aborts_leaves_the_other_interfaces(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(head="die gles opencl"))
    assert report["gpu"] == {"renderer": "Mali-G715", "vulkan": "1.3"}
    assert failures(report) == [{"step": "gles", "signal": ABORT}, {"step": "opencl", "signal": ABORT}]


def test_a_vendor_runtime_that_aborts_when_loaded_is_not_told_apart(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(head="die hiai"))
    assert report["runtimes"] == {
        "edgetpu": "absent",
        "enn": "absent",
        "hiai": None,
        "neuron": "loaded",
        "qnn": "absent",
    }
    assert failures(report) == [{"step": "runtime:hiai", "signal": ABORT}]


def test_an_nnapi_that_dies_at_once_is_unknown_not_switched_off(built_probe: BuiltProbe) -> None:
    body = built_probe.report_bytes(script(accelerator(), head="die devices"))
    report = parse_report(body)
    assert report.nnapi is None
    assert [failure.step for failure in report.probe.failures] == ["nnapi:devices"]
    assert not fingerprint(report).driver_switched_off


def test_a_phone_without_any_library_still_has_a_report(built_probe: BuiltProbe, tmp_path: Path) -> None:
    report = built_probe.report("", libraries=tmp_path)
    assert "nnapi" not in report
    assert report["gpu"] == {}
    assert report["memory"] == {}
    assert set(report["runtimes"].values()) == {"absent"}
    assert failures(report) == []


def test_an_app_that_ships_no_executable_gets_facts_and_no_guess(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(accelerator()), executable="/nowhere/probe")
    assert "nnapi" not in report
    assert report["device"]["model"] == "Pixel 9"
    assert set(report["runtimes"].values()) == {None}
    assert {"step": "nnapi:devices"} in failures(report)
