"""What a probe found a driver to compute wrongly is a fact of the report, an anomaly, and none of a class."""

from __future__ import annotations

from typing import Any

import pytest
from builders import EDGETPU, make_fingerprint, nnapi

from policies.errors import InvalidField
from policies.fingerprint import Fingerprint

WRONG = {"CONCATENATION": ["TENSOR_QUANT8_ASYMM_SIGNED"]}


def compared(outputs: Any) -> Fingerprint:
    return make_fingerprint(nnapi=nnapi({**EDGETPU, "outputs": outputs}))


def test_an_operation_that_comes_out_wrong_is_an_anomaly_that_names_it() -> None:
    phone = compared({"checked": 120, "wrong": WRONG})
    [anomaly] = [anomaly for anomaly in phone.anomalies if anomaly.code == "miscomputes"]
    assert "CONCATENATION (TENSOR_QUANT8_ASYMM_SIGNED) of 120 outputs" in anomaly.detail
    assert phone.learnable


def test_outputs_that_all_agree_and_outputs_that_nobody_compared_are_no_anomaly() -> None:
    for outputs in ({"checked": 120, "wrong": {}}, {"checked": 120}, None):
        assert not any(anomaly.code == "miscomputes" for anomaly in compared(outputs).anomalies)


def test_what_was_compared_changes_no_class_and_no_driver_stack() -> None:
    phones = [compared({"checked": 120, "wrong": WRONG}), compared({"checked": 90, "wrong": {}}), compared(None)]
    assert len({(phone.device_class, phone.driver_stack) for phone in phones}) == 1


def test_what_a_newer_probe_says_besides_is_left_out() -> None:
    [driver] = compared({"checked": 1, "wrong": {}, "slow": ["ADD"]}).accelerators
    assert driver.outputs is not None
    assert driver.outputs.model_dump() == {"checked": 1, "wrong": {}}


@pytest.mark.parametrize("outputs", [{"checked": -1}, {"wrong": {}}, {"checked": 1, "wrong": {"": []}}])
def test_outputs_that_no_probe_writes_are_refused(outputs: dict[str, Any]) -> None:
    with pytest.raises(InvalidField, match="outputs"):
        compared(outputs)
