"""Reading the decision document: garbage is named, never half taken up."""

from __future__ import annotations

import gc
import json
import weakref
from typing import Any

import pytest
from sdk_builders import CPU, NPU, make_document, make_model, split

from nnfleet_client.document import UnreadableDocument, parse_document


def code_of(document: Any) -> str:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    with pytest.raises(UnreadableDocument) as refused:
        parse_document(body)
    return refused.value.code


def test_fields_of_a_newer_server_are_ignored() -> None:
    document = parse_document(json.dumps(make_document(mood="sunny")).encode())
    assert document.release == 41


def test_phones_in_one_process_share_a_document_while_one_of_them_holds_it() -> None:
    body = json.dumps(make_document(release=77)).encode()
    first, second = parse_document(body), parse_document(bytes(bytearray(body)))
    assert first is second
    gone = weakref.ref(first)
    del first, second
    gc.collect()
    assert gone() is None


def test_a_newer_schema_is_refused_by_its_own_code() -> None:
    assert code_of(make_document(schema=2)) == "unknown-schema"


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>Sign in to the Wi-Fi</html>", b"[]", b"{}", b'{"schema": 1}', b"\xff\xfe", b"[" * 100_000],
    ids=["empty", "html", "list", "nothing", "cut", "no text", "deep"],
)
def test_what_is_no_document_is_refused(body: bytes) -> None:
    assert code_of(body) == "unreadable-document"


@pytest.mark.parametrize(
    "change",
    [
        {"release": "41"},
        {"release": True},
        {"app": 1},
        {"models": []},
        {"expires_at": "2026-06-27T00:00:00"},
        {"expires_at": "soon"},
        {"telemetry": {"sample": "all"}},
    ],
    ids=str,
)
def test_a_field_of_another_type_is_refused(change: dict[str, Any]) -> None:
    assert code_of(make_document(**change)) == "unreadable-document"


@pytest.mark.parametrize(
    "model",
    [
        make_model([split(9_999, CPU)]),
        make_model([split(9_000, CPU), split(1_001, NPU)]),
        make_model([split(-1, CPU), split(10_001, NPU)]),
        make_model([split(10_000)]),
        make_model([split(10_000, "an arm that is not there")]),
        make_model(situations=[{"when": {}, "plan": "a plan that is not there"}]),
        make_model([{"weight": 10_000.0, "ladder": [CPU]}]),
        make_model([{"weight": 10_000, "ladder": CPU}]),
        make_model(arms={NPU: "npu", CPU: "cpu"}),
    ],
    ids=["under", "over", "negative", "no rung", "lost arm", "lost plan", "float", "ladder is text", "arm is text"],
)
def test_a_model_that_does_not_hold_together_sinks_the_document(model: dict[str, Any]) -> None:
    assert code_of(make_document(model)) == "unreadable-document"


def test_phones_with_the_same_body_share_one_parsed_document() -> None:
    body = json.dumps(make_document()).encode()
    assert parse_document(body) is parse_document(bytes(bytearray(body)))


def test_nothing_in_a_shared_document_can_be_written_to() -> None:
    document = parse_document(json.dumps(make_document()).encode())
    with pytest.raises(TypeError):
        document.models["segmentation"].arms[NPU]["delegate"] = "gpu"  # type: ignore[index]


@pytest.mark.parametrize(("sample", "kept"), [(0.25, 0.25), (7, 1.0), (-1, 0.0)])
def test_the_share_of_reported_sessions_stays_a_share(sample: float, kept: float) -> None:
    document = parse_document(json.dumps(make_document(telemetry={"sample": sample})).encode())
    assert (document.telemetry_sample, document.flush_s) == (kept, 3_600)


def test_a_document_without_telemetry_settings_reports_every_session() -> None:
    document = parse_document(json.dumps(make_document(telemetry=None, golden=None)).encode())
    assert document.telemetry_sample == 1.0
