"""`PUT /v1/reports/{report_id}`: content-addressed, stored once, and about classes of devices (R-A4, R-A5)."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from builders import make_fingerprint, make_report
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlmodel import Session

from policies.report import MAX_BYTES, report_id
from service.store import reports


def put(client: FlaskClient, body: bytes, named: str | None = None) -> Any:
    return client.put(f"/v1/reports/{named or report_id(body)}", data=body)


def count(engine: Engine) -> int:
    with Session(engine) as session:
        return reports.count_reports(session)


def test_a_report_is_created_once_and_kept_as_it_was_sent(client: FlaskClient, engine: Engine) -> None:
    body = b" " + make_report()
    first, again = put(client, body), put(client, body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.get_json() == again.get_json()
    assert first.get_json()["device_class"] == make_fingerprint().device_class
    with Session(engine) as session:
        assert reports.report_body(session, report_id(body)) == body
    assert count(engine) == 1


def test_two_phones_that_differ_by_build_alone_are_two_reports_of_one_class(
    client: FlaskClient, engine: Engine
) -> None:
    other = make_report(device={"build_fingerprint": "google/stallion/stallion:16/BP4A.1/2:user/release-keys"})
    classes = {put(client, body).get_json()["device_class"] for body in (make_report(), other)}
    assert (len(classes), count(engine)) == (1, 2)


def test_what_is_odd_is_answered_with_stable_codes(client: FlaskClient) -> None:
    answer = put(client, make_report(device={"soc_model": "Nova 9"}))
    assert [anomaly["code"] for anomaly in answer.get_json()["anomalies"]] == ["new-soc"]


@pytest.mark.parametrize(
    ("body", "named", "status", "code"),
    [
        (make_report(), "0" * 64, 422, "digest-mismatch"),
        (b"{", None, 400, "malformed-json"),
        (b"\xff\xfe{}", None, 400, "malformed-json"),
        (make_report(serial="x"), None, 422, "unit-identifier"),
        (make_report(schema=0), None, 422, "invalid-field"),
        (b"[" * 13 + b"]" * 13, None, 422, "body-too-deep"),
        (b" " * (MAX_BYTES + 1), None, 413, "body-too-large"),
    ],
)
def test_a_report_that_is_refused_says_why_and_is_not_stored(
    client: FlaskClient, engine: Engine, body: bytes, named: str | None, status: int, code: str
) -> None:
    answer = put(client, body, named)
    assert (answer.status_code, answer.get_json()["code"]) == (status, code)
    assert count(engine) == 0


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip"])
def test_a_report_that_comes_compressed_is_refused_by_its_encoding(client: FlaskClient, encoding: str) -> None:
    body = gzip.compress(make_report())
    answer = client.put(f"/v1/reports/{report_id(body)}", data=body, headers={"Content-Encoding": encoding})
    assert (answer.status_code, answer.get_json()["code"]) == (415, "unsupported-encoding")
    assert answer.headers["Accept-Encoding"] == "identity"
