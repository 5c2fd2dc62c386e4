"""CapabilityReport: bounded, addressed by its bytes, and about a class of devices, never about one of them (R-A5)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders import EDGETPU, make_report, nnapi, report_with

from policies.errors import BodyTooDeep, BodyTooLarge, DigestMismatch, InvalidField, MalformedJson, UnitIdentifier
from policies.report import MAX_BYTES, MAX_DEPTH, parse_report, report_id

UUID = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
IMEI = "356938035643809"


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_the_id_is_the_digest_of_the_exact_bytes() -> None:
    body = make_report()
    assert parse_report(body, expected_id=report_id(body)) == parse_report(body + b"\n")
    with pytest.raises(DigestMismatch):
        parse_report(body + b"\n", expected_id=report_id(body))


def test_the_id_is_lower_case_hexadecimal_sha256() -> None:
    assert report_id(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_an_id_in_capitals_is_another_one() -> None:
    body = make_report()
    with pytest.raises(DigestMismatch):
        parse_report(body, expected_id=report_id(body).upper())


def test_a_report_may_be_as_large_as_the_limit_and_no_larger() -> None:
    body = make_report()
    assert parse_report(body.ljust(MAX_BYTES)).device.model == "Pixel 10a"
    with pytest.raises(BodyTooLarge):
        parse_report(body.ljust(MAX_BYTES + 1))


def test_a_report_may_nest_as_deep_as_the_limit_and_no_deeper() -> None:
    parse_report(make_report(new=nested(MAX_DEPTH - 1)))
    with pytest.raises(BodyTooDeep):
        parse_report(make_report(new=nested(MAX_DEPTH)))


def test_what_a_newer_probe_adds_is_left_out() -> None:
    newer = report_with(energy={"rails": 4}, device={"npu_tops": 45})
    newer["nnapi"]["devices"][0]["supports_batching"] = True
    assert parse_report(json.dumps(newer).encode()) == parse_report(make_report())


def test_a_report_of_the_bare_minimum_is_taken() -> None:
    bare = {"schema": 1, "device": {"manufacturer": "Acme", "model": "One", "api_level": 27}}
    report = parse_report(json.dumps(bare).encode())
    assert report.nnapi is None
    assert report.runtimes == {}
    assert report.memory.ahardwarebuffer is None


@pytest.mark.parametrize("body", [b"[]", b'"report"', b"17", b"null"])
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidField):
        parse_report(body)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("schema", {"schema": 0}),
        ("device.manufacturer", {"device": {"manufacturer": ""}}),
        ("device.model", {"device": {"model": None}}),
        ("device.model", {"device": {"model": "a\x07b"}}),
        ("device.model", {"device": {"model": "Pixel\n"}}),
        ("device.api_level", {"device": {"api_level": "new"}}),
        ("device.api_level", {"device": {"api_level": 2**70}}),
        ("device.ram_mb", {"device": {"ram_mb": -1}}),
        ("device.cpu.cores", {"device": {"cpu": {"cores": 0}}}),
        ("device.abis", {"device": {"abis": ["x"] * 17}}),
        ("nnapi.devices", {"nnapi": nnapi(*[EDGETPU] * 65)}),
        ("nnapi.devices.0.name", {"nnapi": nnapi(EDGETPU | {"name": "x" * 129})}),
        ("nnapi.devices.0.probe.execute_ms", {"nnapi": nnapi(EDGETPU | {"probe": {"execute_ms": -1}})}),
        ("nnapi.devices.0.supports.CONV_2D", {"nnapi": nnapi(EDGETPU | {"supports": {"CONV_2D": ["x"] * 65}})}),
        ("gpu.renderer", {"gpu": {"renderer": "x" * 513}}),
        ("memory.ahardwarebuffer", {"memory": {"ahardwarebuffer": "perhaps"}}),
    ],
)
def test_a_wrong_value_is_refused_by_its_place(field: str, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidField) as caught:
        parse_report(make_report(**changes))
    assert caught.value.field == field


def test_a_limit_that_is_broken_is_said() -> None:
    with pytest.raises(InvalidField) as caught:
        parse_report(make_report(device={"ram_mb": 10**9}))
    assert caught.value.limit == 4_194_304


def test_nan_is_refused() -> None:
    with pytest.raises(MalformedJson):
        parse_report(make_report().replace(b"7936", b"NaN"))


def test_a_key_that_stands_twice_is_refused() -> None:
    with pytest.raises(MalformedJson):
        parse_report(make_report().replace(b'"schema": 1', b'"schema": 1, "schema": 1'))


@pytest.mark.parametrize(
    "key",
    [
        "serial", "SerialNumber", "serial_no", "Serial-No", "ro.serialno", "serial.", "device/serial", "IMEI", "imei2",
        "Android ID", "androidId", "ssaid", "advertisingId", "gaid", "accountName", "e-mail", "phoneNumber",
        "Wifi MAC", "mac_address", "latitude", "location", "ｉｍｅｉ", "user:id",
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["top", "device", "in a list"])
def test_the_name_of_an_identifier_is_refused_wherever_it_stands(key: str, place: str) -> None:
    changes: dict[str, Any] = {"top": {key: 1}, "device": {"device": {key: 1}}, "in a list": {"new": [{key: 1}]}}[place]
    with pytest.raises(UnitIdentifier) as caught:
        parse_report(make_report(**changes))
    assert caught.value.field is not None
    assert caught.value.field.endswith(key)


@pytest.mark.parametrize(
    "value",
    [
        UUID,
        UUID.upper(),
        f"id={UUID};",
        IMEI,
        int(IMEI),
        "3c:5a:b4:01:02:ef",
        "owner: ada@example.org",
        "a.b+c@ex-1.co.uk",
    ],
)
@pytest.mark.parametrize("place", ["unknown field", "known field", "list", "key"])
def test_the_value_of_an_identifier_is_refused_wherever_it_stands(value: Any, place: str) -> None:
    if place == "known field" and isinstance(value, int):
        value = str(value)
    changes: dict[str, Any] = {
        "unknown field": {"new": value},
        "known field": {"device": {"product": value}},
        "list": {"device": {"abis": [str(value)]}},
        "key": {"runtimes": {str(value): None}},
    }[place]
    with pytest.raises(UnitIdentifier):
        parse_report(make_report(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"device": {"build_fingerprint": "Xiaomi/dada/dada:15/AQ3A.240829.003/OS2.0.17.0.VOCCNXM:user/release-keys"}},
        {"device": {"build_fingerprint": "samsung/a/b:9/PPR1.180610.011/356938035643809012:user/release-keys"}},
        {"new": {"hal": "android.hardware.neuralnetworks@1.3-service-qti"}},
        {"new": {"uptime_ns": 123_456_789_012, "latency": 3, "platform": "mt6895", "flags": [True, None]}},
    ],
)
def test_facts_of_a_class_are_not_taken_for_identifiers(changes: dict[str, Any]) -> None:
    parse_report(make_report(**changes))


@pytest.mark.parametrize("unit", ["a", "a.", "0", "0a:", "a@", "-", "00000000-", "a@a.", "\\u0041"])
def test_long_hostile_texts_are_searched_in_linear_time(unit: str) -> None:
    # 256 KiB of what each pattern nearly matches: a pattern that goes back and forth would take hours.
    prefix = make_report()[:-1] + b', "new": "'
    room = MAX_BYTES - len(prefix) - 2
    body = prefix + (unit * room)[: room // len(unit) * len(unit)].encode() + b'"}'
    assert parse_report(body).device.model == "Pixel 10a"
