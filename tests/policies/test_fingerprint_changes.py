"""An update is told as what it changed, and what it voids (R-A8)."""

from __future__ import annotations

from typing import Any

import pytest
from builders import BUILD, EDGETPU, REFERENCE, make_fingerprint, make_model, nnapi

from policies.arm import executable_arms
from policies.fingerprint_changes import FingerprintChanges, fingerprint_changes
from policies.settings_of_arm import cache_token


def changed(before: dict[str, Any] | None = None, **after: Any) -> FingerprintChanges:
    return fingerprint_changes(make_fingerprint(**(before or {})), make_fingerprint(**after))


def test_a_phone_that_did_not_change_has_no_changes() -> None:
    found = changed()
    assert (found.lines, found.new, found.gone, found.void) == ((), (), (), ())
    assert found.same_class
    assert found.same_stack


def test_a_new_driver_version_is_one_line_and_voids_what_was_compiled_for_it() -> None:
    found = changed(nnapi=nnapi({**EDGETPU, "version": "2.1"}, REFERENCE))
    assert [(line.path, line.before, line.after) for line in found.lines] == [
        ("/accelerators/google-edgetpu/driver_version", "2.0", "2.1")
    ]
    assert found.void == ("nnapi.google-edgetpu",)
    assert not found.same_class
    assert not found.same_stack


def test_an_operation_that_a_driver_lost_is_named_with_its_types() -> None:
    found = changed(nnapi=nnapi({**EDGETPU, "supports": {"ADD": ["TENSOR_INT32"]}}, REFERENCE))
    lost = next(line for line in found.lines if line.path.endswith("/CONV_2D"))
    assert (lost.before, lost.after) == (["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED"], None)
    assert found.void == ()


def test_a_new_build_voids_everything_that_was_compiled_and_keeps_the_class() -> None:
    found = changed(device={"build_fingerprint": BUILD.replace("BP4A.1", "BP4A.2")})
    assert [line.path for line in found.lines] == ["/build"]
    assert found.same_class
    assert found.void == ("nnapi.google-edgetpu", "gpu")


@pytest.mark.parametrize(
    ("before", "after", "new", "gone"),
    [
        ({}, {"nnapi": nnapi(REFERENCE)}, (), ("nnapi.google-edgetpu",)),
        ({"gpu": None}, {}, ("gpu",), ()),
        ({}, {"runtimes": {"qnn": "loaded 2.30", "edgetpu": None}}, ("qnn",), ()),
    ],
)
def test_drivers_that_come_and_go_are_named(
    before: dict[str, Any], after: dict[str, Any], new: tuple[str, ...], gone: tuple[str, ...]
) -> None:
    found = changed(before, **after)
    assert (found.new, found.gone) == (new, gone)


def test_a_driver_that_is_switched_off_shows_as_an_anomaly_that_is_new() -> None:
    found = changed(nnapi=nnapi(REFERENCE), runtimes={})
    assert "/anomalies/driver-switched-off" in {line.path for line in found.lines}


@pytest.mark.parametrize(
    "after",
    [
        {},
        {"nnapi": nnapi({**EDGETPU, "version": "2.1"}, REFERENCE)},
        {"gpu": {"renderer": "Mali-G715", "gles": "3.2", "vulkan": "1.4", "opencl": "3.0"}},
        {"device": {"api_level": 37}},
    ],
)
def test_a_cache_is_void_exactly_where_the_token_of_an_arm_changes(after: dict[str, Any]) -> None:
    old, new = make_fingerprint(), make_fingerprint(**after)
    tokens = [{arm.id: cache_token(arm, one, {}) for arm in executable_arms(one, make_model())} for one in (old, new)]
    moved = {arm for arm in tokens[0] if tokens[0][arm] != tokens[1][arm] and not arm.endswith(".cpu")}
    void = fingerprint_changes(old, new).void
    assert moved == {arm for arm in tokens[0] if arm.split(".", 2)[2] in void}
