"""Policy documents: typos are refused with their field; denies name cohorts as vendors spell them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from builders import EDGETPU, deny, make_accelerator, make_document, make_fingerprint, make_model, make_variant, nnapi

from policies.arm import Arm
from policies.decide import decide_model
from policies.document import parse_document
from policies.errors import InvalidField
from policies.knowledge import Knowledge
from policies.rules.deny import Cohort
from policies.vocabulary import Delegate

[VARIANT] = make_model(variants=[make_variant()]).variants
NPU = Arm(VARIANT, Delegate.NNAPI, make_accelerator())
CPU = Arm(VARIANT, Delegate.CPU)


@pytest.mark.parametrize(
    ("raw", "field", "limit"),
    [
        ({"app": "camera", "exploration": 1}, "exploration", None),
        ({"app": "camera", "thresholds": {"lead": 1}}, "thresholds.lead", None),
        ({"app": "camera", "thresholds": {"lead_coverage": 1.1}}, "thresholds.lead_coverage", 1),
        ({"app": "camera", "thresholds": {"lead_coverage": 0.5}}, "thresholds", None),
        ({"app": "camera", "ladder_rungs": 0}, "ladder_rungs", 1),
        ({"app": "camera", "valid_s": 59}, "valid_s", 60),
        ({"app": "camera", "exploration_bp": 33.3}, "exploration_bp", None),
        ({"app": "camera", "schema": 2}, "schema", None),
        ({"app": "cam/era"}, "app", None),
        ({"app": "camera", "denies": [deny("q1")]}, "denies.0.arms", 1),
        ({"app": "camera", "denies": [deny("q1", "*", reason="")]}, "denies.0.reason", 1),
        ({"app": "camera", "denies": [deny("q1", "*", until="soon")]}, "denies.0.until", None),
        ({}, "app", None),
        ([], "PolicyDocument", None),
    ],
)
def test_what_is_wrong_is_named_with_the_limit_it_broke(raw: Any, field: str, limit: float | None) -> None:
    with pytest.raises(InvalidField) as caught:
        parse_document(raw)
    assert (caught.value.field, caught.value.limit) == (field, limit)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"rules": "none"}, "rules: a list belongs here, not a text"),
        ({"rules": ["first"]}, "rules.0: an object with names belongs here, not a text"),
        ({"exploration_bp": "many"}, "exploration_bp: a whole number belongs here, not a text"),
        ({"exploration_bp": 1.5}, "exploration_bp: a whole number belongs here, not 1.5"),
        ({"exploration_bp": 20_000}, "exploration_bp: should be less than or equal to 10000"),
        ({"app": None}, "app: a text belongs here, not nothing"),
        ({"app": ["camera"]}, "app: a text belongs here, not a list"),
    ],
)
def test_what_is_wrong_is_said_in_words_of_what_was_written(raw: Any, said: str) -> None:
    with pytest.raises(InvalidField) as caught:
        parse_document({"app": "camera"} | raw)
    assert caught.value.detail == said


def test_two_denies_of_one_id_are_refused() -> None:
    with pytest.raises(InvalidField, match="id"):
        make_document(denies=[deny("q1", "*"), deny("q1", "int8.*")])


def test_a_document_reads_back_what_it_writes() -> None:
    document = make_document(exploration_bp=200, denies=[deny("q1", "*", until="2026-05-01")])
    assert parse_document(document.model_dump(mode="json", by_alias=True)) == document


def test_a_deny_holds_on_its_last_day_and_not_on_the_next() -> None:
    document = make_document(denies=[deny("ends", "*", until="2026-05-01"), deny("stays", "*")])
    assert [d.id for d in document.in_force(date(2026, 5, 1)).denies] == ["ends", "stays"]
    assert [d.id for d in document.in_force(date(2026, 5, 2)).denies] == ["stays"]


@pytest.mark.parametrize(
    "cohort",
    [
        {},
        {"socs": ["Tensor G4"]},
        {"socs": ["tensor-g4", "sm8650"]},
        {"manufacturers": [" Google "]},
        {"models": ["Pixel 10a"]},
        {"accelerators": ["Google-EdgeTPU"]},
        {"accelerators": ["google-edgetpu"], "driver_versions": ["2.0"]},
        {"device_classes": [make_fingerprint().device_class]},
    ],
)
def test_a_cohort_holds_the_devices_it_names_however_they_are_spelt(cohort: dict[str, Any]) -> None:
    assert Cohort(**cohort).holds(make_fingerprint(), NPU)


@pytest.mark.parametrize(
    "cohort",
    [
        {"socs": ["sm8650"]},
        {"socs": ["Tensor G4"], "models": ["Pixel 9"]},
        {"manufacturers": ["samsung"]},
        {"accelerators": ["qti-dsp"]},
        {"driver_versions": ["2.1"]},
        {"driver_versions": ["2"]},
    ],
)
def test_a_cohort_holds_no_other_device(cohort: dict[str, Any]) -> None:
    assert not Cohort(**cohort).holds(make_fingerprint(), NPU)


@pytest.mark.parametrize("cohort", [{"driver_versions": ["2.0"]}, {"accelerators": ["google-edgetpu"]}])
def test_what_is_unknown_matches_nothing(cohort: dict[str, Any]) -> None:
    silent = Arm(VARIANT, Delegate.NNAPI, make_accelerator(name="new", driver_version=None))
    assert not Cohort(**cohort).holds(make_fingerprint(), CPU)
    assert not Cohort(**cohort).holds(make_fingerprint(), silent)
    assert not Cohort(socs=("sm8650",)).holds(make_fingerprint(device={"soc_model": None}), NPU)


def test_an_alias_of_a_driver_names_the_driver() -> None:
    phone = make_fingerprint(nnapi=nnapi({**EDGETPU, "name": "mtk-neuron_shim"}))
    [accelerator] = phone.accelerators
    for name in ("mtk-neuron", "mtk-neuron_shim", "neuron-ann"):
        assert Cohort(accelerators=(name,)).holds(phone, Arm(VARIANT, Delegate.NNAPI, accelerator))


def test_the_more_a_cohort_states_the_narrower_it_is() -> None:
    assert Cohort().width > Cohort(socs=("sm8650",)).width > Cohort(socs=("sm8650",), models=("X",)).width


@pytest.mark.parametrize(
    ("changes", "hit"),
    [
        ({}, True),
        ({"models": ["segmentation"]}, True),
        ({"models": ["detection"]}, False),
        ({"arms": ["fp16.*"]}, False),
    ],
)
def test_a_deny_hits_the_models_and_arms_it_names(changes: dict[str, Any], hit: bool) -> None:
    document = make_document(denies=[deny("q1", "int8.*.nnapi.*") | changes])
    decided = decide_model(make_fingerprint(), document, make_model(), Knowledge())
    assert (NPU.id not in decided.arms) is hit
    assert CPU.id in decided.arms
