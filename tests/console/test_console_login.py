"""Signing in and out: who gets in, for how long, and what nobody learns from being refused."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from signing_in import PASSWORD, act, add_person, signed_in
from sqlalchemy import Engine
from sqlmodel import Session, select
from werkzeug.test import TestResponse

from service import clock
from service.app import create_app
from service.console.login import WRONG, local
from service.console.visitor import COOKIE
from service.identity import people
from service.identity.actor import Role
from service.settings import Settings
from service.store.people_tables import PersonSessionRow
from service.store.tables import AuditRow

_TOKEN = re.compile(r'name="csrf_token" value="[^"]+"')


@pytest.fixture
def browser(app: Flask) -> FlaskClient:
    return app.test_client()


def log_in(browser: FlaskClient, name: str = "anna", password: str = PASSWORD, following: str = "") -> TestResponse:
    return act(browser, "/console/login", name=name, password=password, next=following)


def cookie_of(browser: FlaskClient) -> str | None:
    found = browser.get_cookie(COOKIE, path="/console")
    return found.value if found else None


def test_a_person_signs_in_is_named_on_every_page_and_signs_out(browser: FlaskClient, engine: Engine) -> None:
    add_person(engine, "anna", Role.OPERATOR, PASSWORD)
    answer = log_in(browser, following="/console/classes?page=2")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/console/classes?page=2")
    assert "anna <span" in browser.get("/console/jobs").text
    kept = cookie_of(browser)
    assert act(browser, "/console/logout").headers["Location"] == "/console/login"
    assert cookie_of(browser) is None
    browser.set_cookie(COOKIE, kept or "", path="/console")
    assert browser.get("/console/jobs").status_code == 303
    with Session(engine) as session:
        assert [row.action for row in session.exec(select(AuditRow))] == ["person-created", "signed-in", "signed-out"]


def test_an_unknown_name_a_wrong_password_and_a_shut_account_get_the_same_answer(
    browser: FlaskClient, engine: Engine
) -> None:
    for name in ("anna", "shut"):
        add_person(engine, name, Role.VIEWER, PASSWORD)
    add_person(engine, "elsewhere", Role.VIEWER)
    with Session(engine) as session, session.begin():
        people.disable(session, "shut", "test", clock.now())
    asked = [("anna", "not the password"), ("nobody", PASSWORD), ("shut", PASSWORD), ("elsewhere", PASSWORD), ("", "")]
    pages = set()
    for name, password in asked:
        answer = log_in(browser, name, password)
        assert answer.status_code == 401
        assert cookie_of(browser) is None
        pages.add(_TOKEN.sub("", answer.text).replace(f'value="{name}"', 'value=""'))
        assert WRONG in answer.text
    assert len(pages) == 1


def test_only_the_digest_of_a_session_is_stored(app: Flask, engine: Engine) -> None:
    secret = cookie_of(signed_in(app, "anna", Role.VIEWER)) or ""
    with Session(engine) as session:
        row = session.exec(select(PersonSessionRow)).one()
    assert row.id_sha256 == hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in row.model_dump_json()


def test_signing_in_again_ends_the_session_that_the_browser_had(browser: FlaskClient, engine: Engine) -> None:
    add_person(engine, "anna", Role.VIEWER, PASSWORD)
    log_in(browser)
    first = cookie_of(browser)
    log_in(browser)
    assert cookie_of(browser) not in {first, None}
    with Session(engine) as session:
        assert len(session.exec(select(PersonSessionRow)).all()) == 1


def test_a_session_that_somebody_planted_is_not_taken_over(browser: FlaskClient, engine: Engine) -> None:
    add_person(engine, "anna", Role.VIEWER, PASSWORD)
    browser.set_cookie(COOKIE, "planted", path="/console")
    log_in(browser)
    assert cookie_of(browser) != "planted"


@pytest.fixture
def hours(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How many hours later it is, as the last of the list."""
    later, now = [0.0], clock.now()

    def told() -> datetime:
        return now + timedelta(hours=later[-1])

    monkeypatch.setattr(clock, "now", told)
    return later


def test_a_session_ends_after_two_hours_without_use_and_twelve_in_any_case(app: Flask, hours: list[float]) -> None:
    anna, ben = (signed_in(app, name, Role.VIEWER) for name in ("anna", "ben"))
    for hour in (1.9, 3.7, 5.5, 7.4, 9.2, 11.0):
        hours.append(hour)
        assert anna.get("/console/jobs").status_code == 200, hour
    assert ben.get("/console/jobs").status_code == 303
    hours.append(12.1)
    assert anna.get("/console/jobs").status_code == 303


def test_a_person_who_is_shut_out_is_out_at_once(app: Flask, engine: Engine) -> None:
    anna = signed_in(app, "anna", Role.VIEWER)
    assert anna.get("/console/jobs").status_code == 200
    with Session(engine) as session, session.begin():
        people.disable(session, "anna", "test", clock.now())
    assert anna.get("/console/jobs").status_code == 303


def test_a_role_holds_from_the_next_request_on(app: Flask, engine: Engine) -> None:
    anna = signed_in(app, "anna", Role.VIEWER)
    with Session(engine) as session, session.begin():
        people.set_role(session, "anna", Role.ADMIN, "test", clock.now())
    assert 'class="quiet">admin' in anna.get("/console/jobs").text


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/", "//evil.example/console/", "/\\evil.example", "\\\\evil.example", "/console\\@evil.example",
        "https:/console/", "javascript:alert(1)", "/v1/releases", "/consolering", "/console/\n", "/console/" + "a" * 5000, "",
    ],
)  # fmt: skip
def test_nobody_is_sent_away_from_the_console(app: Flask, address: str) -> None:
    with app.test_request_context():
        assert local(address) == "/console/"


def test_a_page_of_the_console_may_follow(app: Flask) -> None:
    with app.test_request_context():
        assert local("/console/classes?q=//x&page=2") == "/console/classes?q=//x&page=2"


@pytest.mark.parametrize(("url", "secure"), [("https://nnfleet.example", True), (None, False)])
def test_cookies_are_kept_from_scripts_and_other_sites_and_from_plain_http_where_there_is_https(
    settings: Settings, engine: Engine, url: str | None, secure: bool
) -> None:
    add_person(engine, "anna", Role.VIEWER, PASSWORD)
    browser = create_app(replace(settings, public_url=url), engine).test_client()
    answer = act(browser, "/console/login", name="anna", password=PASSWORD, base_url=url)
    cookies = [c for c in answer.headers.getlist("Set-Cookie") if c.startswith((COOKIE, "nnfleet_form"))]
    for cookie in cookies:
        assert {"HttpOnly", "SameSite=Lax", "Path=/console"} <= set(cookie.split("; "))
        assert ("Secure" in cookie.split("; ")) == secure
    assert any(cookie.startswith(COOKIE) for cookie in cookies)


def test_the_login_says_how_to_make_the_first_account(browser: FlaskClient, engine: Engine) -> None:
    assert "nnfleet user create" in browser.get("/console/login").text
    add_person(engine, "anna", Role.ADMIN)
    assert "nnfleet user create" not in browser.get("/console/login").text
