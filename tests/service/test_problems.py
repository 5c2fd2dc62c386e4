"""Errors on the wire: a stable code each, a status each, always a problem document."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from flask import Flask
from flask.testing import FlaskClient

from policies.errors import NnfleetError
from service.app import create_app
from service.identity.access import ACCESS, OPEN
from service.settings import Settings
from service.web.problems import problem_of

_GROUPS = {"error", "invalid-input", "unknown", "conflict", "forbidden"}


def _all(kind: type[NnfleetError]) -> Iterator[type[NnfleetError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _all(child)


# One with a constructor of its own is held by the tests of its reader.
ERRORS = [kind for kind in _all(NnfleetError) if kind.code not in _GROUPS and kind.__init__ is NnfleetError.__init__]


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in _all(NnfleetError)]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("kind", ERRORS)
def test_every_error_is_a_problem_with_a_status_field_and_limit(kind: type[NnfleetError], client: FlaskClient) -> None:
    with client.application.app_context():
        answer = problem_of(kind("what happened", field="a.b", limit=7))
    problem = answer.get_json()
    assert 400 <= answer.status_code < 500
    assert answer.content_type == "application/problem+json"
    assert problem == {
        "type": f"urn:nnfleet:problem:{kind.code}",
        "title": kind.code.replace("-", " "),
        "status": answer.status_code,
        "code": kind.code,
        "detail": "what happened",
        "field": "a.b",
        "limit": 7,
    }


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/nothing", 404, "not-found"),
        ("DELETE", "/v1/telemetry", 405, "method-not-allowed"),
        ("PUT", "/v1/reports/x", 413, "body-too-large"),
    ],
)
def test_what_flask_refuses_is_a_problem_too(
    client: FlaskClient, method: str, path: str, status: int, code: str
) -> None:
    answer = client.open(path, method=method, data=b" " * 300_000)
    assert (answer.status_code, answer.content_type) == (status, "application/problem+json")
    assert answer.get_json()["code"] == code


def test_who_has_no_token_is_told_how_to_send_it(client: FlaskClient) -> None:
    assert client.get("/v1/releases").headers["WWW-Authenticate"] == "Bearer"


def test_who_sends_another_encoding_is_told_those_that_are_taken(client: FlaskClient) -> None:
    answer = client.post("/v1/telemetry", data=b"[]", headers={"Content-Encoding": "br"})
    assert answer.headers["Accept-Encoding"] == "gzip, zstd, identity"


def test_a_method_that_is_not_taken_is_answered_with_those_that_are(client: FlaskClient) -> None:
    assert set(client.delete("/v1/telemetry").headers["Allow"].split(", ")) == {"OPTIONS", "POST"}


def test_a_database_that_is_away_is_a_503_with_a_wait() -> None:
    away = create_app(Settings("postgresql://nobody@127.0.0.1:1/none")).test_client()
    answer = away.get("/v1/decisions/camera/x")
    assert (answer.status_code, answer.get_json()["code"]) == (503, "database-unavailable")
    assert int(answer.headers["Retry-After"]) >= 5
    assert away.get("/healthz").status_code == 200
    assert (away.get("/readyz").status_code, away.get("/readyz").get_json()["database"]) == (503, "down")


def test_a_connection_that_breaks_while_records_are_copied_is_a_503_too(
    own_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ACCESS, "_copying", OPEN)

    @own_app.get("/copying")
    def _copying() -> str:
        raise psycopg.OperationalError("the connection is lost")

    answer = own_app.test_client().get("/copying")
    assert (answer.status_code, answer.get_json()["code"]) == (503, "database-unavailable")


def test_what_nobody_foresaw_is_a_500_that_tells_nothing(own_app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ACCESS, "_broken", OPEN)

    @own_app.get("/broken")
    def _broken() -> str:
        raise RuntimeError("secret")

    answer = own_app.test_client().get("/broken")
    assert (answer.status_code, answer.get_json()["code"]) == (500, "internal-error")
    assert "secret" not in answer.text


def test_a_service_with_its_database_is_ready(client: FlaskClient) -> None:
    assert client.get("/readyz").get_json() == {"database": "up", "release": None}
