"""The probe's reference graph: a driver that needs what NNAPI's CPU needs was measured to pretend (R-A3, R-E4)."""

from __future__ import annotations

from typing import Any

import pytest
from builders import EDGETPU, REFERENCE, make_document, make_fingerprint, make_model, nnapi, report_with

from policies.decide import decide_model
from policies.errors import InvalidField
from policies.fingerprint import Fingerprint
from policies.fingerprint_changes import fingerprint_changes
from policies.knowledge import Knowledge
from policies.reference_run import ReferenceRun
from policies.report import report_of

NPU = "int8.tflite.nnapi.google-edgetpu"


def probed(**probe: Any) -> Fingerprint:
    return make_fingerprint(nnapi=nnapi(EDGETPU | {"probe": {"status": "ok"} | probe}, REFERENCE))


def ladder(phone: Fingerprint) -> tuple[str, ...]:
    return decide_model(phone, make_document(), make_model(), Knowledge()).plans[0].splits[0].ladder


def codes(phone: Fingerprint) -> set[str]:
    return {anomaly.code for anomaly in phone.anomalies}


def test_all_that_the_probe_times_is_kept_as_measured() -> None:
    times = {
        "compile_ms": 50, "cached_compile_ms": 5, "first_execute_ms": 3, "execute_ms": 1, "burst_ms": 0.7, "cpu_execute_ms": 20,
    }  # fmt: skip
    reference = probed(type="TENSOR_FLOAT32", **times).accelerators[0].reference
    assert reference == ReferenceRun(type="TENSOR_FLOAT32", **times)


@pytest.mark.parametrize(
    ("execute_ms", "cpu_execute_ms", "pretends"),
    [
        (20, 20, True),
        (15, 20, True),  # neighbouring steps of the probe's rounding
        (10, 20, None),
        (1, 20, None),
        (30, 20, True),
        (2, 2, None),  # the way to the driver takes as long as the graph
        (20, None, None),
        (None, 20, None),
    ],
)
def test_a_driver_that_needs_what_the_cpu_needs_pretends(
    execute_ms: float | None, cpu_execute_ms: float | None, pretends: bool | None
) -> None:
    phone = probed(execute_ms=execute_ms, cpu_execute_ms=cpu_execute_ms)
    assert (codes(phone) == {"no-faster-than-cpu"}) is bool(pretends)


def test_it_does_not_lead_before_anything_else_is_measured() -> None:
    assert ladder(probed(execute_ms=1, cpu_execute_ms=20))[0] == NPU
    assert NPU not in ladder(probed(execute_ms=20, cpu_execute_ms=20))


def test_the_reference_cpu_is_never_compared_with_itself() -> None:
    cpu = REFERENCE | {"probe": {"status": "ok", "execute_ms": 20, "cpu_execute_ms": 20}}
    assert codes(make_fingerprint(nnapi=nnapi(EDGETPU, cpu))) == set()


def test_times_of_a_graph_that_came_out_wrong_say_nothing() -> None:
    assert probed(status="wrong-output", execute_ms=20, cpu_execute_ms=20).accelerators[0].reference is None


def test_times_make_no_other_class_and_no_difference_between_two_probings() -> None:
    slow, fast = probed(execute_ms=10, cpu_execute_ms=100), probed(execute_ms=1, cpu_execute_ms=100)
    assert slow.device_class == fast.device_class == probed().device_class
    assert fingerprint_changes(slow, fast).lines == ()


@pytest.mark.parametrize("wrong", [-1, 1e9, "soon"])
def test_a_time_that_is_none_is_refused_with_its_field(wrong: Any) -> None:
    device = EDGETPU | {"probe": {"cpu_execute_ms": wrong}}
    with pytest.raises(InvalidField) as refused:
        report_of(report_with(nnapi=nnapi(device)))
    assert refused.value.field == "nnapi.devices.0.probe.cpu_execute_ms"
