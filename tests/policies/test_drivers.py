"""What a probe says of drivers, GPUs and runtimes, as facts: aliases are one thing, what is new stays apart (R-A3…A8)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders import EDGETPU, REFERENCE, make_fingerprint, nnapi
from hypothesis import given
from hypothesis import strategies as st

from policies.canonical import canonical_accelerator
from policies.fingerprint import Fingerprint
from policies.observation import decode_observation
from policies.silicon import Presence
from policies.vocabulary import FEATURE_LEVEL_VALUES, Delegate


def with_driver(**changes: Any) -> Fingerprint:
    return make_fingerprint(nnapi=nnapi(EDGETPU | changes, REFERENCE))


def codes(found: Fingerprint) -> set[str]:
    return {anomaly.code for anomaly in found.anomalies}


# Feature levels


@pytest.mark.parametrize(("level", "raw"), [*enumerate(FEATURE_LEVEL_VALUES, start=1)])
def test_feature_levels_are_counted_one_to_eight(level: int, raw: int) -> None:
    assert with_driver(feature_level=raw).accelerators[0].level == level
    assert with_driver(feature_level=str(raw)).accelerators[0].level == level
    assert make_fingerprint(nnapi=nnapi(level=raw)).nnapi_level == level


@pytest.mark.parametrize(
    "raw",
    [4, 8, 0, -29, 32, 1_000_005, 1_000_009, 2**70, "1.3", 30.5, "", "9" * 600, "level 4", True, [30], {"level": 4}],
)
def test_a_level_that_nnapi_does_not_define_stays_unknown_and_is_reported(raw: Any) -> None:
    found = with_driver(feature_level=raw)
    assert found.accelerators[0].level is None
    assert "ambiguous-feature-level" in codes(found)


@pytest.mark.parametrize(
    ("encoding", "raw", "level"),
    [
        ("raw", 30, 4), ("raw", 4, None), ("level", 4, 4), ("level", "8", 8), ("level", 9, None), ("level", 30, None),
        ("hal", "1.3", 4), ("hal", 1.2, 3), ("HAL", "AIDL v4", 8), ("hal", "1.4", None), ("api", 30, None), ("", 30, 4),
    ],
)  # fmt: skip
def test_a_level_is_counted_as_the_report_says_it_is(encoding: str, raw: Any, level: int | None) -> None:
    driver, runtime = {**EDGETPU, "feature_level": raw}, nnapi(EDGETPU, level=raw)
    for found in (
        with_driver(feature_level=raw, feature_level_encoding=encoding).accelerators[0].level,
        make_fingerprint(nnapi=nnapi(driver) | {"feature_level_encoding": encoding}).accelerators[0].level,
        make_fingerprint(nnapi=runtime | {"feature_level_encoding": encoding}).nnapi_level,
    ):
        assert found == level


def test_a_level_that_fits_no_encoding_says_which_was_stated() -> None:
    found = with_driver(feature_level=30, feature_level_encoding="api")
    assert "'api'" in found.anomalies[0].detail


def test_a_level_that_is_absent_is_unknown_without_ado() -> None:
    found = with_driver(feature_level=None)
    assert found.accelerators[0].level is None
    assert found.anomalies == ()


# Names


@pytest.mark.parametrize("alias", ["mtk-neuron_shim", "MTK-Neuron", "neuron-ann", "mtk_neuron"])
def test_aliases_of_a_driver_are_one_driver(alias: str) -> None:
    plain, renamed = with_driver(name="mtk-neuron"), with_driver(name=alias)
    assert renamed.accelerators[0].name == "mtk-neuron"
    assert renamed.accelerators[0].raw_name == alias
    assert (renamed.device_class, renamed.driver_stack) == (plain.device_class, plain.driver_stack)


@pytest.mark.parametrize("alias", ["SM8650", "Snapdragon 8 Gen 3", "snapdragon-8 gen3", "QTI SM8650"])
def test_aliases_of_a_soc_are_one_soc(alias: str) -> None:
    found = make_fingerprint(device={"soc_model": alias})
    assert (found.soc, found.soc_vendor) == ("sm8650", "qualcomm")
    assert found.hints["npu_version"] == 75


def test_a_sibling_of_a_known_soc_is_not_taken_for_it() -> None:
    found = make_fingerprint(device={"soc_model": "SM8750P"})
    assert found.soc == "sm8750p"
    assert codes(found) == {"new-soc"}
    assert found.hints == {}


def test_a_new_driver_is_reported_as_new_and_keeps_its_name() -> None:
    found = with_driver(name="Acme NPU/2", type="accelerator")
    driver = found.accelerators[0]
    assert (driver.name, driver.raw_name, driver.kind) == ("acme-npu-2", "Acme NPU/2", "npu")
    assert (driver.int8, driver.fp16) == (None, None)
    assert codes(found) == {"new-accelerator"}


@pytest.mark.parametrize(
    ("raw_type", "kind"), [("CPU", "cpu"), ("gpu", "gpu"), ("accelerator", "npu"), ("other", "other"), (None, "other")]
)
def test_of_a_new_driver_only_its_own_word_is_known(raw_type: str | None, kind: str) -> None:
    assert with_driver(name="acme", type=raw_type).accelerators[0].kind == kind


def test_what_is_known_of_a_driver_goes_before_what_it_says_of_itself() -> None:
    assert with_driver(name="nnapi-reference", type="accelerator").accelerators[0].is_cpu


@given(
    st.text(
        st.characters(min_codepoint=32, exclude_characters="\x7f", exclude_categories=["Cs"]), min_size=1, max_size=128
    )
)
def test_every_driver_name_can_stand_in_an_arm_and_be_reported_back(raw: str) -> None:
    arm = f"int16x8-mixed-float.onnx-epcontext.nnapi.{canonical_accelerator(raw)}"
    record = {"record_id": "0" * 8 + "-0000-7000-8000-" + "0" * 12, "report_id": "0" * 64, "app": "a", "release": 1}
    assert decode_observation(json.dumps(record | {"model": "m", "kind": "attempt", "arm": arm}).encode()).arm == arm


def test_new_drivers_without_a_letter_stay_apart() -> None:
    assert canonical_accelerator("设备") != canonical_accelerator("驱动")


def test_a_new_vendor_runtime_is_reported_as_new() -> None:
    found = make_fingerprint(runtimes={"acmert": "loaded 1"})
    assert codes(found) == {"new-runtime"}
    assert found.runtimes[0].delegate is None


@pytest.mark.parametrize("raw", ["", "!!!", None])
def test_a_soc_without_a_name_is_unknown(raw: str | None) -> None:
    assert make_fingerprint(device={"soc_model": raw}).soc is None


# Runtimes and GPUs


@pytest.mark.parametrize(
    ("state", "presence", "version"),
    [
        ("loaded", Presence.YES, None),
        ("Loaded 2.48.0", Presence.YES, "2.48.0"),
        ("absent", Presence.NO, None),
        (None, Presence.UNKNOWN, None),
        ("", Presence.UNKNOWN, None),
        ("not_found", Presence.UNKNOWN, None),
        ("error: namespace", Presence.UNKNOWN, None),
    ],
)
def test_a_runtime_that_the_probe_could_not_judge_is_unknown(
    state: str | None, presence: Presence, version: str | None
) -> None:
    [runtime] = make_fingerprint(runtimes={"snpe": state}).runtimes
    assert (runtime.name, runtime.delegate, runtime.presence) == ("qnn", Delegate.QNN, presence)
    if presence is Presence.YES:
        assert runtime.version == version
    if presence is Presence.UNKNOWN:
        assert (runtime.version, runtime.search) == (None, state or None)


LOOKED_ELSEWHERE = "not_found in /vendor/lib64, /system/lib64"


def test_a_vendor_runtime_that_was_not_found_where_it_was_looked_for_is_not_called_switched_off() -> None:
    phone: dict[str, Any] = {"device": {"soc_model": "MT6991"}, "nnapi": nnapi(REFERENCE)}
    searched = make_fingerprint(**phone, runtimes={"neuron": LOOKED_ELSEWHERE})
    absent = make_fingerprint(**phone, runtimes={"neuron": "absent"})
    assert (searched.driver_switched_off, absent.driver_switched_off) == (False, True)
    assert searched.driver_stack != absent.driver_stack


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ({"runtimes": {"edgetpu": LOOKED_ELSEWHERE}}, ("runtimes.edgetpu",)),
        ({"runtimes": {"edgetpu": None, "qnn": None}}, ("runtimes.edgetpu",)),
        ({"runtimes": {"edgetpu": "absent", "acme": None, "litert": None}}, ()),
        (
            {"runtimes": {}, "nnapi": nnapi({**EDGETPU, "supports": None}, REFERENCE, {"name": "nnapi-sample_all"})},
            ("nnapi.google-edgetpu.supports",),
        ),
    ],
)
def test_what_another_probe_could_find_out_is_asked_for(changes: dict[str, Any], asked: tuple[str, ...]) -> None:
    assert make_fingerprint(**changes).undetermined == asked


def test_how_a_runtime_was_looked_for_makes_no_other_class() -> None:
    one, other = (make_fingerprint(runtimes={"edgetpu": f"not_found {path}"}) for path in ("/vendor", "/system"))
    assert one.device_class == other.device_class


@pytest.mark.parametrize(
    ("renderer", "family"),
    [
        ("Mali-G715", "mali-g715"),
        ("Adreno (TM) 740", "adreno-740"),
        ("PowerVR(R) B-Series BXM-8-256", "powervr-b-series-bxm-8-256"),
    ],
)
def test_gpus_are_known_by_family(renderer: str, family: str) -> None:
    found = make_fingerprint(gpu={"renderer": renderer})
    assert found.gpu is not None
    assert (found.gpu.family, found.gpu.renderer) == (family, renderer)


@pytest.mark.parametrize("gpu", [None, {}, {"renderer": ""}, {"renderer": None, "vulkan": "1.3"}])
def test_a_gpu_without_a_name_is_none(gpu: Any) -> None:
    assert make_fingerprint(gpu=gpu).gpu is None
