"""The starter policy says what public reports say, and nothing of phones that they do not name."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest
from builders import EDGETPU, chain, make_fingerprint, make_model, make_variant, nnapi

from policies.decide import ModelDecision, decide_model
from policies.document_text import parse_document_text
from policies.knowledge import Knowledge

STARTER = parse_document_text((files("policies.catalog") / "starter.yaml").read_bytes(), media_type="application/yaml")
QTI = {**EDGETPU, "name": "qti-default"}


def decided(model: dict[str, Any] | None = None, **phone: Any) -> ModelDecision:
    return decide_model(make_fingerprint(**phone), STARTER, make_model(**(model or {})), Knowledge())


@pytest.mark.parametrize(
    ("device", "driver", "denied_by"),
    [
        ({"soc_model": "SDM660"}, QTI, "sdm660-nnapi-slower-than-cpu"),
        ({"soc_model": "MT6768", "manufacturer": "Xiaomi"}, {**EDGETPU, "name": "mtk-neuron"}, "redmi-note-9-nnapi-wrong"),
        ({"soc_model": "SM8150", "api_level": 30}, QTI, "snapdragon-855-nnapi-float-wrong"),
        ({"soc_model": "SM8350", "api_level": 31}, QTI, "snapdragon-888-android-12-crash"),
    ],
)  # fmt: skip
def test_a_phone_of_a_report_is_kept_from_what_was_reported(
    device: dict[str, Any], driver: dict[str, Any], denied_by: str
) -> None:
    assert decided(device=device, nnapi=nnapi(driver)).denied_by == (denied_by,)


@pytest.mark.parametrize(
    ("device", "driver"),
    [
        ({}, EDGETPU),
        ({"soc_model": "MT6768", "manufacturer": "Samsung"}, {**EDGETPU, "name": "mtk-neuron"}),
        ({"soc_model": "SM8350", "api_level": 33}, QTI),
        ({"soc_model": "SM8150", "api_level": 33}, QTI),
    ],
)
def test_other_phones_are_not_touched(device: dict[str, Any], driver: dict[str, Any]) -> None:
    assert decided(device=device, nnapi=nnapi(driver)).denied_by == ()


def test_a_driver_that_takes_a_model_in_many_pieces_is_denied_that_model_only() -> None:
    driver = {**EDGETPU, "name": "ipuadaptor", "supports": None}
    pieces = {"variants": [make_variant(graph=chain(*["CONV_2D", "CUSTOM:own"] * 8).to_json())]}
    assert decided(pieces, nnapi=nnapi(driver)).denied_by == ("ipuadaptor-small-pieces",)
    assert decided(nnapi=nnapi(driver)).denied_by == ()


def test_an_emulator_stays_on_its_cpu() -> None:
    [plan] = decided(device={"product": "sdk_gphone64_arm64"}).plans
    assert plan.by == "emulators-stay-on-the-cpu"
    assert {arm.rpartition(".")[2] for split in plan.splits for arm in split.ladder} == {"cpu"}
