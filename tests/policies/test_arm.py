"""Which arms a phone has everything for: what is only hinted at, or was built for another chip, is not offered (R-B6, R-C2)."""

from __future__ import annotations

from typing import Any

import pytest
from builders import EDGETPU, REFERENCE, chain, make_fingerprint, make_model, make_model_json, make_variant, nnapi

from policies.arm import executable_arms
from policies.errors import InvalidField
from policies.model import ModelSpec
from policies.validation import validated
from policies.vocabulary import Runtime


def arms(*variants: dict[str, Any], **report: Any) -> list[str]:
    model = make_model(variants=list(variants or (make_variant(),)))
    return sorted(arm.id for arm in executable_arms(make_fingerprint(**report), model))


def test_an_arm_is_named_by_precision_format_delegate_and_accelerator() -> None:
    assert arms() == ["int8.tflite.cpu", "int8.tflite.gpu", "int8.tflite.nnapi.google-edgetpu"]


def test_a_phone_whose_gpu_is_unknown_gets_no_gpu_arm() -> None:
    assert "int8.tflite.gpu" not in arms(gpu=None)
    assert "int8.tflite.gpu" not in arms(gpu={"gles": "3.2"})


def test_a_hint_that_the_soc_has_an_npu_offers_nothing() -> None:
    assert arms(device={"soc_model": "SM8650"}, nnapi=None, gpu=None, runtimes={}) == ["int8.tflite.cpu"]


@pytest.mark.parametrize(
    ("changes", "offered"),
    [
        ({}, True),
        ({"type": "cpu", "name": "someone-cpu"}, False),
        ({"name": "nnapi-sample_all"}, False),
        ({"feature_level": 28}, False),
        ({"feature_level": None}, False),
        ({"feature_level": 4}, False),
        ({"probe": {"status": "ok"}}, True),
        ({"probe": {"status": "crashed"}}, False),
    ],
)
def test_only_a_driver_of_nnapi_1_2_that_is_no_cpu_and_passed_its_probe_is_named(
    changes: dict[str, Any], offered: bool
) -> None:
    assert any(".nnapi." in arm for arm in arms(nnapi=nnapi({**EDGETPU, **changes}))) is offered


def test_a_runtime_below_1_2_names_no_driver() -> None:
    assert not any(".nnapi." in arm for arm in arms(nnapi=nnapi(EDGETPU, level=28)))


def test_a_driver_under_two_of_its_names_is_one_arm_at_the_higher_level() -> None:
    old = dict(EDGETPU, name="mtk-neuron", feature_level=29, supports={})
    new = dict(EDGETPU, name="mtk-neuron_shim")
    for devices in ((old, new), (new, old)):
        phone = make_fingerprint(nnapi=nnapi(*devices))
        [arm] = [arm for arm in executable_arms(phone, make_model(variants=[make_variant()])) if arm.accelerator]
        assert arm.accelerator is not None
        assert arm.accelerator.raw_name == "mtk-neuron_shim"


@pytest.mark.parametrize(
    ("client", "drivers", "offered"),
    [
        ({"can_name_accelerator": False}, [EDGETPU, REFERENCE], False),
        ({"can_name_accelerator": False, "can_exclude_cpu": True}, [EDGETPU, REFERENCE], True),
        (
            {"can_name_accelerator": False, "can_exclude_cpu": True},
            [EDGETPU, {**EDGETPU, "name": "google-armnn"}],
            False,
        ),
        ({"can_name_accelerator": True}, [EDGETPU, {**EDGETPU, "name": "google-armnn"}], True),
    ],
)
def test_nnapi_is_offered_where_the_runtime_can_have_the_driver_that_is_meant(
    client: dict[str, Any], drivers: list[dict[str, Any]], offered: bool
) -> None:
    assert any(".nnapi." in arm for arm in arms(nnapi=nnapi(*drivers), client=client)) is offered


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("loaded 2.48.0", True),
        ("loaded 2.42", True),
        ("loaded 2.9.1", False),
        ("loaded", False),
        ("loaded beta", False),
    ],
)
def test_a_binary_for_newer_runtimes_is_kept_from_older_and_unknown_ones(state: str, offered: bool) -> None:
    built = make_variant("int8", "qnn-context", targets=["tensor-g4"], runtime_versions=">= 2.42")
    assert ("int8.qnn-context.qnn" in arms(built, runtimes={"qnn": state})) is offered


@pytest.mark.parametrize(("buckets", "offered"), [([], False), ([[1, 224, 224, 3]], True)])
def test_a_file_of_dynamic_size_goes_to_nnapi_in_the_sizes_that_are_compiled_ahead(
    buckets: list[list[int]], offered: bool
) -> None:
    inputs = [{"name": "image", "type": "uint8", "shape": [1, -1, -1, 3]}]
    found = arms(make_variant(inputs=inputs, shape_buckets=buckets))
    assert any(".nnapi." in arm for arm in found) is offered
    assert "int8.tflite.cpu" in found


def test_each_runtime_gets_the_binary_that_was_built_for_it() -> None:
    old = make_variant("int8", "qnn-context", id="old", targets=["tensor-g4"], runtime_versions="< 2.42")
    new = make_variant("int8", "qnn-context", id="new", targets=["tensor-g4"], runtime_versions=">= 2.42")
    for version, meant in (("2.31.0", "old"), ("2.48.0", "new")):
        phone = make_fingerprint(runtimes={"qnn": f"loaded {version}"})
        assert {a.variant.id for a in executable_arms(phone, make_model(variants=[old, new]))} == {meant}


@pytest.mark.parametrize(
    ("file_format", "delegates"),
    [
        ("tflite", {"cpu", "qnn"}),
        ("onnx", {"cpu", "qnn"}),
        ("dlc", {"qnn"}),
        ("ptl", {"cpu"}),
        ("pte", {"cpu", "qnn"}),
        ("qnn-context", set()),
        ("onnx-epcontext", set()),
    ],
)
def test_a_file_is_offered_to_the_delegates_that_load_it(file_format: str, delegates: set[str]) -> None:
    found = arms(make_variant("fp32", file_format), nnapi=None, gpu=None, runtimes={"qnn": "loaded"})
    assert {arm.rpartition(".")[2] for arm in found} == delegates


@pytest.mark.parametrize(
    ("state", "offered"), [("loaded", True), ("loaded 2.30", True), ("absent", False), ("error", False)]
)
def test_a_vendor_runtime_is_offered_where_it_was_seen_to_load(state: str, offered: bool) -> None:
    assert ("int8.dlc.qnn" in arms(make_variant("int8", "dlc"), runtimes={"snpe": state})) is offered


def test_a_file_built_for_this_chip_goes_before_one_that_runs_on_any() -> None:
    portable, built, other = (
        make_variant(id="any"),
        make_variant(id="g4", targets=["tensor-g4"]),
        make_variant(id="q", targets=["sm8650"]),
    )
    phone = make_fingerprint()
    assert phone.soc is not None
    built["targets"] = [phone.soc]
    for order in ([portable, built, other], [other, built, portable]):
        assert {arm.variant.id for arm in executable_arms(phone, make_model(variants=order))} == {"g4"}
    unknown = make_fingerprint(device={"soc_model": None})
    assert {arm.variant.id for arm in executable_arms(unknown, make_model(variants=[built, portable]))} == {"any"}


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        ([make_variant(id="a"), make_variant("fp32", id="a")], "have the id a"),
        ([make_variant(id="a"), make_variant(id="b")], "would be one arm"),
        ([make_variant(id="a", targets=["x", "y"]), make_variant(id="b", targets=["y"])], "would be one arm"),
        ([make_variant(sha256="A" * 64)], "variants.0.sha256"),
        ([make_variant(graph={"nodes": []})], "variants.0.graph"),
        ([make_variant(accuracy_drop=float("nan"))], "variants.0.accuracy_drop"),
        ([make_variant(size_bytes=0)], "variants.0.size_bytes"),
        ([make_variant(runtime_versions=">= new")], "variants.0.runtime_versions"),
    ],
)
def test_variants_that_cannot_be_told_apart_or_read_are_refused(variants: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(InvalidField, match=said):
        validated(ModelSpec, make_model_json(variants=variants))


def test_an_unknown_accuracy_drop_is_within_the_budget_and_a_larger_one_is_not() -> None:
    model = make_model(
        variants=[
            make_variant(id=str(n), precision=p, accuracy_drop=d)
            for n, p, d in ((0, "int8", None), (1, "fp32", 0.02), (2, "fp16", 0.021), (3, "mixed", -0.1))
        ]
    )
    assert [model.within_budget(variant) for variant in model.variants] == [True, True, False, True]


def test_a_model_without_a_readable_file_is_judged_by_its_task() -> None:
    assert make_model(task="speech-recognition", variants=[make_variant()]).transformer_like
    assert not make_model(task="image-segmentation", variants=[make_variant()]).transformer_like


def test_a_file_names_the_library_that_loads_it_and_holds_its_graph() -> None:
    [variant] = make_model(variants=[make_variant(graph=chain("CONV_2D").to_json())]).variants
    assert variant.runtime is Runtime.LITERT
    assert variant.model_graph == chain("CONV_2D")
    assert make_model(variants=[make_variant()]).variants[0].model_graph is None
