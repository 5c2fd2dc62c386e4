"""Fingerprint: canonical facts of a device class, whatever the phone calls them (R-A3…A8)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from builders import EDGETPU, REFERENCE, make_fingerprint, make_report, nnapi, report_with
from hypothesis import given
from hypothesis import strategies as st

from policies.canonical import canonical_accelerator, canonical_soc
from policies.fingerprint import Fingerprint, fingerprint
from policies.population import Population
from policies.report import parse_report


def with_driver(**changes: Any) -> Fingerprint:
    return make_fingerprint(nnapi=nnapi(EDGETPU | changes, REFERENCE))


def codes(found: Fingerprint) -> set[str]:
    return {anomaly.code for anomaly in found.anomalies}


def test_what_a_report_leaves_out_is_unknown_not_no() -> None:
    body = {"schema": 1, "device": {"manufacturer": "Acme", "model": "One", "api_level": 30}}
    found = fingerprint(parse_report(json.dumps(body).encode()))
    assert (found.soc, found.ram_gb, found.cpu_cores, found.nnapi_level, found.gpu) == (None,) * 5
    assert (found.shared_buffers, found.build) == (None, None)
    assert found.accelerators == ()
    assert found.anomalies == ()


# Populations


@pytest.mark.parametrize(
    ("changes", "population"),
    [
        ({}, Population.RETAIL),
        ({"device": {"model": "sdk_gphone64_arm64"}}, Population.EMULATOR),
        ({"device": {"product": "vbox86p"}}, Population.EMULATOR),
        ({"device": {"soc_model": "ranchu"}}, Population.EMULATOR),
        ({"nnapi": nnapi({"name": "nnapi-sample_all"}, REFERENCE)}, Population.EMULATOR),
        ({"nnapi": nnapi({"name": "nnapi-sample_quant"})}, Population.EMULATOR),
        ({"device": {"product": "lineage_shiba"}}, Population.CUSTOM_ROM),
        ({"device": {"build_fingerprint": "google/x/x:16/A/1:userdebug/dev-keys"}}, Population.CUSTOM_ROM),
        ({"device": {"build_fingerprint": "acme/x/x:16/A/1:user/test-keys"}}, Population.CUSTOM_ROM),
    ],
)
def test_only_retail_phones_are_learned_from(changes: dict[str, Any], population: Population) -> None:
    found = make_fingerprint(**changes)
    assert found.population is population
    assert found.learnable == (population is Population.RETAIL)


# Contradictions


def test_a_build_of_another_android_contradicts_the_api_level() -> None:
    build = "samsung/beyond2qlteue/beyond2q:9/PPR1.180610.011/1:user/release-keys"
    found = make_fingerprint(device={"brand": "samsung", "api_level": 29, "build_fingerprint": build})
    assert codes(found) == {"api-level-contradiction"}
    assert not found.learnable
    assert "29" in found.anomalies[0].detail
    assert "Android 9" in found.anomalies[0].detail


def test_a_report_that_contradicts_itself_is_no_part_of_the_honest_class() -> None:
    honest = make_fingerprint()
    lying = make_fingerprint(device={"build_fingerprint": "google/x/x:9/A/1:user/release-keys"})
    assert lying.device_class != honest.device_class


@pytest.mark.parametrize(
    ("brand", "contradicts"), [("google", False), (" Google", False), (None, False), ("", False), ("samsung", True)]
)
def test_a_build_of_another_brand_contradicts_the_phone(brand: str | None, contradicts: bool) -> None:
    found = make_fingerprint(device={"brand": brand})
    assert ("brand-contradiction" in codes(found), found.learnable) == (contradicts, not contradicts)
    assert (found.device_class != make_fingerprint().device_class) == contradicts


def test_a_build_that_is_no_path_names_no_brand() -> None:
    assert make_fingerprint(device={"build_fingerprint": "unknown"}).anomalies == ()


@pytest.mark.parametrize(
    ("version", "api_level", "contradicts"),
    [
        ("12", 31, False), ("12", 32, False), ("12L", 32, False), ("12", 30, True), ("12", 33, True), ("13", 32, True),
        ("8.1.0", 27, False), ("99", 36, False), ("16.1", 36, False),
    ],
)  # fmt: skip
def test_builds_of_12l_may_call_themselves_12_and_new_versions_are_not_judged(
    version: str, api_level: int, contradicts: bool
) -> None:
    build = f"acme/x/x:{version}/A/1:user/release-keys"
    found = make_fingerprint(device={"api_level": api_level, "build_fingerprint": build})
    assert ("api-level-contradiction" in codes(found)) == contradicts


# Drivers that are switched off

NOTHING_TAKEN = EDGETPU | {"supports": {"CONV_2D": []}}


def test_the_apps_own_runtime_is_no_sign_of_an_accelerator() -> None:
    found = make_fingerprint(nnapi=nnapi(REFERENCE), runtimes={"litert": "loaded 2.1.0"})
    assert (found.accelerated, found.driver_switched_off) == (False, True)


@pytest.mark.parametrize("soc", ["Tensor G4", "MT6989", "Exynos 2200"])
@pytest.mark.parametrize("devices", [(), (REFERENCE,), (NOTHING_TAKEN,), (EDGETPU | {"supports": {}},)])
def test_a_soc_with_an_npu_that_nnapi_does_not_show_has_its_driver_off(soc: str, devices: Any) -> None:
    assert make_fingerprint(device={"soc_model": soc}, nnapi=nnapi(*devices)).driver_switched_off


@pytest.mark.parametrize(
    "changes",
    [
        {"nnapi": nnapi(EDGETPU)},
        {"nnapi": nnapi(EDGETPU | {"supports": None})},
        {"nnapi": None},
        {"device": {"soc_model": "Kirin 710"}, "nnapi": nnapi(REFERENCE)},
        {"device": {"soc_model": "SM8650"}, "nnapi": nnapi(REFERENCE)},
        {"device": {"soc_model": "MT6765"}, "nnapi": nnapi(REFERENCE)},
        {"device": {"soc_model": "a new one"}, "nnapi": nnapi(REFERENCE)},
        {"runtimes": {"edgetpu": "loaded"}, "nnapi": nnapi(REFERENCE)},
    ],
    ids=["alive", "not asked", "no probe", "no NPU", "QNN only", "no APU", "unknown", "vendor runtime"],
)
def test_other_phones_without_an_accelerator_have_nothing_switched_off(changes: dict[str, Any]) -> None:
    assert not make_fingerprint(**changes).driver_switched_off


# The class


@pytest.mark.parametrize(
    "changes",
    [
        {"device": {"build_fingerprint": "google/stallion/stallion:16/BP4A.2/2:user/release-keys"}},
        {"device": {"manufacturer": " GOOGLE "}},
        {"device": {"ram_mb": 7800}},
        {"device": {"brand": "Google", "product": "s", "soc_manufacturer": None}},
        {"device": {"soc_model": "Google Tensor G4"}},
        {"device": {"cpu": {"cores": 8, "features": ["DOTPROD", "fp16", "fp16"]}}},
        {"nnapi": nnapi(REFERENCE, EDGETPU)},
        {"nnapi": nnapi(EDGETPU | {"probe": {"status": "crashed"}}, REFERENCE)},
        {
            "nnapi": nnapi(
                EDGETPU | {"supports": {"CONV_2D": ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED"]}}, REFERENCE
            )
        },
        {"runtimes": {"EdgeTPU": "", "QNN": "Absent"}},
        {"probe": {"version": "2.0"}},
    ],
)
def test_another_build_spelling_or_order_is_the_same_class(changes: dict[str, Any]) -> None:
    assert make_fingerprint(**changes).device_class == make_fingerprint().device_class


@pytest.mark.parametrize(
    "changes",
    [
        {"device": {"model": "Pixel 10"}},
        {"device": {"api_level": 37, "build_fingerprint": None}},
        {"device": {"ram_mb": 11_900}},
        {"device": {"soc_model": "Tensor G5"}},
        {"device": {"cpu": {"cores": 8, "features": ["fp16"]}}},
        {"nnapi": nnapi(EDGETPU | {"version": "2.1"}, REFERENCE)},
        {"nnapi": nnapi(EDGETPU | {"feature_level": 1_000_008}, REFERENCE)},
        {"nnapi": nnapi(EDGETPU | {"supports": {"CONV_2D": ["TENSOR_FLOAT32"]}}, REFERENCE)},
        {"nnapi": nnapi(EDGETPU | {"supports": None}, REFERENCE)},
        {"nnapi": nnapi(REFERENCE)},
        {"runtimes": {"qnn": "absent", "edgetpu": "absent"}},
        {"gpu": {"renderer": "Mali-G715", "gles": "3.2", "vulkan": "1.4", "opencl": "3.0"}},
        {"memory": {"ahardwarebuffer": False}},
        {"device": {"product": "lineage_stallion"}},
        {"device": {"soc_id": 639}},
        {"client": {"can_name_accelerator": False}},
    ],
)
def test_another_driver_or_fact_is_another_class(changes: dict[str, Any]) -> None:
    assert make_fingerprint(**changes).device_class != make_fingerprint().device_class


def test_classes_share_a_driver_stack_where_soc_and_drivers_are_alike() -> None:
    base, other_model = make_fingerprint(), make_fingerprint(device={"model": "Pixel 10 Pro", "ram_mb": 16_000})
    assert other_model.driver_stack == base.driver_stack
    assert with_driver(version="2.1").driver_stack != base.driver_stack
    assert make_fingerprint(device={"soc_model": None}).driver_stack.startswith("unknown-")


def test_siblings_of_a_soc_are_told_apart_by_their_number() -> None:
    phones = [make_fingerprint(device={"soc_model": "SM8750", "soc_id": number}) for number in (618, 639)]
    assert {phone.soc for phone in phones} == {"sm8750"}
    assert phones[0].driver_stack != phones[1].driver_stack


def test_an_app_that_says_nothing_of_its_runtime_is_taken_for_able() -> None:
    for client in ({}, {"can_name_accelerator": None}, {"can_name_accelerator": True, "can_exclude_cpu": False}):
        phone = make_fingerprint(client=client)
        assert phone.names_accelerators
        assert phone.device_class == make_fingerprint().device_class


def test_an_app_that_cannot_name_an_accelerator_is_told_what_that_costs() -> None:
    phone = make_fingerprint(client={"can_name_accelerator": False})
    [anomaly] = [a for a in phone.anomalies if a.code == "accelerator-not-nameable"]
    assert "google-edgetpu" in anomaly.detail


DRIVERS = st.fixed_dictionaries(
    {"name": st.sampled_from(["mtk-neuron", "mtk-neuron_shim", "mtk-gpu_shim", "nnapi-reference", "acme"])},
    optional={
        "version": st.sampled_from(["1.0", "1.1"]),
        "feature_level": st.sampled_from([29, 30, 4]),
        "supports": st.dictionaries(st.sampled_from(["CONV_2D", "ADD"]), st.lists(st.sampled_from("ab"), max_size=3)),
    },
)
REPORTS = st.fixed_dictionaries(
    {
        "nnapi": st.builds(lambda drivers: nnapi(*drivers), st.lists(DRIVERS, max_size=5)),
        "runtimes": st.dictionaries(
            st.sampled_from(["qnn", "snpe", "neuron", "neuropilot", "acmert"]),
            st.sampled_from([None, "absent", "loaded", "loaded 2.1"]),
        ),
        "device": st.fixed_dictionaries(
            {"cpu": st.builds(lambda f: {"features": f}, st.lists(st.sampled_from(["fp16", "FP16", "i8mm"])))}
        ),
    }
)


def shuffled(value: Any, source: random.Random) -> Any:
    if isinstance(value, dict):
        items = [(key, shuffled(child, source)) for key, child in value.items()]
        return dict(source.sample(items, len(items)))
    return source.sample([shuffled(v, source) for v in value], len(value)) if isinstance(value, list) else value


@given(REPORTS, st.randoms(use_true_random=False))
def test_the_order_of_lists_and_keys_does_not_matter(changes: dict[str, Any], source: random.Random) -> None:
    report = report_with(**changes)
    again = json.dumps(shuffled(report, source)).encode()
    assert fingerprint(parse_report(again)) == make_fingerprint(**changes)


@given(REPORTS)
def test_canonicalising_again_changes_nothing(changes: dict[str, Any]) -> None:
    found = make_fingerprint(**changes)
    for driver in found.accelerators:
        assert canonical_accelerator(driver.name) == driver.name
    assert canonical_soc(found.soc or "") == found.soc


@given(REPORTS)
def test_a_fingerprint_survives_storage(changes: dict[str, Any]) -> None:
    found = make_fingerprint(**changes)
    assert Fingerprint.model_validate(json.loads(json.dumps(found.model_dump(mode="json")))) == found


def test_measured_support_is_a_key_and_unasked_support_is_none() -> None:
    assert with_driver().accelerators[0].support_key == (("CONV_2D", ("TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED")),)
    assert with_driver(supports=None).accelerators[0].support_key is None


def test_the_same_bytes_give_the_same_class_in_every_process() -> None:
    # Written down: a change of it would rename every class of every installation.
    assert fingerprint(parse_report(make_report())).device_class == "c92c6cb207420329"
