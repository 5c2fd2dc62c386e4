"""The probe's report is one that the server takes, and its fingerprint is that of the phone (R-A1, R-A2, R-A5)."""

from __future__ import annotations

import json

import pytest
from probe_builders import CAPTURES, CPU, INT8, BuiltProbe, accelerator, script

from policies.fingerprint import fingerprint
from policies.operations import NNAPI_OPERATIONS
from policies.population import Population
from policies.report import MAX_BYTES, MAX_DEPTH, parse_report
from policies.silicon import Presence
from policies.strict_json import nesting
from policies.vocabulary import feature_level

pytestmark = pytest.mark.slow

CONVOLUTIONS = {"CONV_2D", "DEPTHWISE_CONV_2D", "GROUPED_CONV_2D", "TRANSPOSE_CONV_2D"}


def test_the_unit_tests_pass(built_probe: BuiltProbe) -> None:
    done = built_probe.run("tests/probe_tests")
    assert done.returncode == 0, done.stderr.decode()
    assert b" 0 failed checks" in done.stdout


def test_the_server_takes_the_report_and_finds_the_phone_in_it(built_probe: BuiltProbe) -> None:
    body = built_probe.report_bytes(script(accelerator("compile_ms 5", "execute_ms 1")))
    found = fingerprint(parse_report(body))
    assert (found.manufacturer, found.model, found.soc, found.api_level) == ("google", "Pixel 9", "tensor-g4", 35)
    assert found.population is Population.RETAIL
    assert found.anomalies == ()
    assert (found.ram_gb, found.cpu_cores, found.nnapi_level) == (12, 8, 8)
    assert found.cpu_features == ("bf16", "dotprod", "fp16", "i8mm")
    assert found.shared_buffers is True
    assert found.gpu is not None
    assert (found.gpu.renderer, found.gpu.gles, found.gpu.vulkan, found.gpu.opencl) == (
        "Mali-G715",
        "3.2",
        "1.3",
        "3.0",
    )
    names = [(a.name, a.kind, a.driver_version, a.level, a.probe_status) for a in found.accelerators]
    assert names == [("google-edgetpu", "npu", "2.0", 7, "ok"), ("nnapi-reference", "cpu", "1.0", 8, "ok")]


def test_a_report_is_small_and_flat(built_probe: BuiltProbe) -> None:
    body = built_probe.report_bytes(script(*(accelerator(name=f"npu-{number}") for number in range(20))))
    assert len(body) < MAX_BYTES
    assert nesting(body) < MAX_DEPTH
    assert len(json.loads(body)["nnapi"]["devices"]) == 16


def test_what_names_the_phone_itself_is_not_read(built_probe: BuiltProbe) -> None:
    assert "ro.serialno" in (CAPTURES / "pixel" / "getprop.txt").read_text()
    body = built_probe.report_bytes(script(accelerator(name="018f4d1e-7c00-7abc-8def-0123456789ab")))
    assert b"1A2B3C4D5E6F" not in body
    assert parse_report(body).nnapi.devices[0].name == "unnamed"  # type: ignore[union-attr]


def test_phones_of_a_class_write_the_same_bytes(built_probe: BuiltProbe) -> None:
    said = "runtime 1000008\n" + accelerator(takes="TENSOR_BOOL8")
    assert built_probe.report_bytes(said) == built_probe.report_bytes(said)


def test_the_questions_are_the_catalogue(built_probe: BuiltProbe) -> None:
    asked: dict[str, dict[str, int]] = {}
    for line in built_probe.run("nnfleet-probe", "--questions").stdout.decode().splitlines():
        name, code, operand_type, level = line.split()
        assert NNAPI_OPERATIONS[name].code == int(code)
        asked.setdefault(name, {})[operand_type] = int(level)
    assert asked.keys() == NNAPI_OPERATIONS.keys()
    for name, operation in NNAPI_OPERATIONS.items():
        bias = {"TENSOR_INT32"} if name in CONVOLUTIONS else set()
        known = {key: level for key, level in operation.operand_types.items() if key not in bias}
        assert not known or asked[name] == known
        assert min(asked[name].values()) == operation.since_level


def test_a_driver_is_asked_about_each_operation_in_each_type(built_probe: BuiltProbe) -> None:
    npu, cpu = built_probe.report(script(accelerator("refuses LSTM SOFTMAX")))["nnapi"]["devices"]
    assert set(npu["supports"]["CONV_2D"]) == set(INT8.split())
    assert "SOFTMAX" not in npu["supports"]
    assert cpu["supports"].keys() == NNAPI_OPERATIONS.keys()


def test_a_driver_is_not_asked_what_its_level_does_not_know(built_probe: BuiltProbe) -> None:
    report = built_probe.report(script(accelerator(level=29)))
    supports = report["nnapi"]["devices"][0]["supports"]
    assert supports["CONV_2D"] == ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_SYMM_PER_CHANNEL"]
    assert all(NNAPI_OPERATIONS[name].since_level <= (feature_level(29) or 0) for name in supports)


def test_every_model_that_asks_is_a_valid_one(built_probe: BuiltProbe) -> None:
    failures = built_probe.report("runtime 1000008\n" + CPU)["probe"]["failures"]
    assert failures == []


def test_an_older_phone_names_its_chip_in_other_properties(built_probe: BuiltProbe) -> None:
    body = built_probe.report_bytes(script(accelerator(name="mtk-neuron_shim")), capture="dimensity")
    found = fingerprint(parse_report(body))
    assert parse_report(body).device.soc_model == "MT6893"
    assert found.cpu_features == ("dotprod", "fp16")
    assert found.accelerators[0].name == "mtk-neuron"
    runtimes = {runtime.name: runtime.presence for runtime in found.runtimes}
    assert runtimes["neuron"] is Presence.YES
    assert runtimes["qnn"] is Presence.NO


def test_a_machine_that_is_no_phone_gets_no_report(built_probe: BuiltProbe) -> None:
    done = built_probe.run("nnfleet-probe", "--root", "/nowhere")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"no Android phone" in done.stderr


@pytest.mark.parametrize("words", [["--what"], ["--root"], ["--root", "a", "b", "c"], ["--step", "none", ""]])
def test_words_it_does_not_know_are_an_error(built_probe: BuiltProbe, words: list[str]) -> None:
    assert built_probe.run("nnfleet-probe", *words).returncode == 2
