"""Every route of the console, asked by strangers and by every role: the table of access is what it answers by."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from signing_in import act, signed_in, token_of
from sqlalchemy import Engine

from service.app import create_app
from service.identity.access import ACCESS
from service.identity.actor import Role
from service.settings import Settings

NOBODY = Settings("postgresql://nobody@localhost/nothing")


def routes() -> list[tuple[str, str, str]]:
    """(endpoint, method, path with its arguments filled in) of every route that asks for a person."""
    found = []
    for rule in create_app(NOBODY).url_map.iter_rules():
        access = ACCESS[rule.endpoint]
        if access.scope is None and access.role is not None:
            path = rule.rule.replace("<int:", "<").replace("<path:", "<")
            path = "/".join("1" if part.startswith("<") else part for part in path.split("/"))
            methods = sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
            found += [(rule.endpoint, method, path) for method in methods]
    return found


ROUTES = sorted(routes(), key=lambda route: route[0] == "console.end_own_sessions")
"""What ends the sessions of whoever asks comes last."""
ACTS = [route for route in ROUTES if route[1] != "GET"]


@pytest.fixture
def by_role(app: Flask) -> dict[Role, FlaskClient]:
    return {role: signed_in(app, role.name.lower(), role) for role in Role}


def test_every_route_of_the_console_lets_its_role_in_and_no_lower_one(by_role: dict[Role, FlaskClient]) -> None:
    tokens = {role: token_of(browser) for role, browser in by_role.items()}
    for endpoint, method, path in ROUTES:
        wanted = ACCESS[endpoint].role
        assert wanted is not None
        for role, browser in by_role.items():
            answer = browser.get(path) if method == "GET" else act(browser, path, csrf_token=tokens[role])
            assert (answer.status_code in {401, 403}) == (role < wanted), (endpoint, role, answer.status_code)


def test_a_stranger_who_reads_is_sent_to_the_login_and_back(app: Flask) -> None:
    stranger = app.test_client()
    for endpoint, method, path in ROUTES:
        if method == "GET":
            answer = stranger.get(f"{path}?page=2")
            assert answer.status_code == 303, endpoint
            assert answer.headers["Location"].startswith("/console/login?next=/console"), endpoint
    assert stranger.get("/console/classes?page=2").headers["Location"].endswith("next=/console/classes?page%3D2")


def test_a_stranger_does_nothing(app: Flask) -> None:
    stranger = app.test_client()
    token = token_of(stranger)
    for endpoint, _, path in ACTS:
        assert act(stranger, path, csrf_token=token).status_code == 401, endpoint


def test_an_open_console_shows_its_reading_pages_and_nothing_else(settings: Settings, engine: Engine) -> None:
    stranger = create_app(replace(settings, console_open=True), engine).test_client()
    token = token_of(stranger)
    for endpoint, method, path in ROUTES:
        answer = stranger.get(path) if method == "GET" else act(stranger, path, csrf_token=token)
        shut = answer.status_code == (303 if method == "GET" else 401)
        assert shut != ACCESS[endpoint].reading, (endpoint, answer.status_code)


def test_a_form_without_its_token_does_nothing(by_role: dict[Role, FlaskClient]) -> None:
    for endpoint, method, path in ACTS:
        answer = by_role[Role.ADMIN].open(path, method=method)
        assert answer.status_code == 400, endpoint


def test_a_session_opens_nothing_of_the_api(by_role: dict[Role, FlaskClient]) -> None:
    assert by_role[Role.ADMIN].get("/v1/releases").status_code == 401
    assert by_role[Role.ADMIN].post("/v1/releases", json={"note": "x"}).status_code == 401


def test_the_api_asks_for_no_token_of_forms(app: Flask) -> None:
    answer = app.test_client().post("/v1/releases", json={"note": "x"}, headers={"Authorization": "Bearer t"})
    assert answer.status_code == 201
