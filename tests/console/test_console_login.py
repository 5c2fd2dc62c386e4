"""Signing in and out: who gets in, for how long, and what nobody learns from being refused."""

from __future__ import annotations

import hashlib
import logging
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

from service import clock, logs
from service.app import create_app
from service.console.login import WRONG, local
from service.console.visitor import COOKIE
from service.console.watching import HEADER
from service.identity import people, sessions
from service.identity.actor import Role
from service.settings import Settings
from service.store.tables import AuditRow, PersonSessionRow

_TOKEN = re.compile(r'(name="csrf_token" value|nonce)="[^"]+"')


@pytest.fixture
def browser(app: Flask) -> FlaskClient:
    return app.test_client()


def log_in(browser: FlaskClient, name: str = "anna", password: str = PASSWORD, following: str = "") -> TestResponse:
    return act(browser, "/console/login", name=name, password=password, next=following)


def cookie_of(browser: FlaskClient) -> str | None:
    found = browser.get_cookie(COOKIE, path="/console")
    return found.value if found else None


@pytest.fixture
def hours(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How many hours later it is, as the last of the list."""
    later, now = [0.0], clock.now()

    def told() -> datetime:
        return now + timedelta(hours=later[-1])

    monkeypatch.setattr(clock, "now", told)
    return later


def test_a_person_signs_in_is_named_on_every_page_and_signs_out(browser: FlaskClient, engine: Engine) -> None:
    add_person(engine, "anna", Role.OPERATOR, PASSWORD)
    answer = log_in(browser, following="/console/classes?page=2")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/console/classes?page=2")
    assert ">anna</a>" in browser.get("/console/jobs").text
    kept = cookie_of(browser)
    assert act(browser, "/console/logout").headers["Location"] == "/console/login"
    assert cookie_of(browser) is None
    browser.set_cookie(COOKIE, kept or "", path="/console")
    assert browser.get("/console/jobs").status_code == 303
    with Session(engine) as session:
        assert [row.action for row in session.exec(select(AuditRow))] == ["person-created", "signed-in", "signed-out"]


def test_a_page_that_looks_again_by_itself_does_not_keep_a_session_alive(
    browser: FlaskClient, engine: Engine, hours: list[float]
) -> None:
    add_person(engine, "anna", Role.OPERATOR, PASSWORD)
    log_in(browser)
    for later in (1.0, 1.9):
        hours.append(later)
        assert browser.get("/console/jobs", headers={HEADER: "running"}).status_code == 200
    hours.append(2.1)
    over = browser.get("/console/jobs", headers={HEADER: "running", "HX-Request": "true"})
    assert (over.status_code, over.headers["HX-Refresh"]) == (401, "true")
    assert browser.get("/console/jobs").status_code == 303


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


def tried(browser: FlaskClient, name: str, times: int, password: str = "wrong") -> list[int]:
    return [log_in(browser, name, password).status_code for _ in range(times)]


def test_after_ten_wrong_passwords_a_name_waits_a_minute_whoever_has_it_and_whatever_the_password(
    app: Flask, engine: Engine, hours: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "matches", lambda known, given: known is not None and given == PASSWORD)
    add_person(engine, "anna", Role.VIEWER, PASSWORD)
    for name in ("anna", "nobody"):
        first, second = app.test_client(), create_app(app.extensions["nnfleet"].settings, engine).test_client()
        assert tried(first, name, 6) + tried(second, name, 6) == [401] * 10 + [429] * 2
        assert log_in(first, name, PASSWORD).headers["Retry-After"] == "60"
    hours.append(1.1 / 60)
    assert log_in(app.test_client(), "anna", PASSWORD).status_code == 303
    assert tried(app.test_client(), "anna", 2) == [401, 401]


def test_an_address_that_tries_many_names_waits(browser: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "matches", lambda *_: False)
    answers = [log_in(browser, f"name-{n}").status_code for n in range(31)]
    assert answers == [401] * 30 + [429]


def test_no_secret_of_a_sign_in_stands_in_the_log(
    app: Flask, engine: Engine, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    logs.configure("debug")
    add_person(engine, "anna", Role.VIEWER, PASSWORD)
    browser = app.test_client()
    with caplog.at_level(logging.DEBUG):
        log_in(browser, "anna", "a wrong secret")
        log_in(browser)
        secret = cookie_of(browser)
        act(browser, "/console/account/password", password=PASSWORD, new_password="another long secret")
    logs.configure("critical")
    said = caplog.text + "".join(capfd.readouterr())
    assert "sign-in-refused" in said
    for hidden in (PASSWORD, "a wrong secret", "another long secret", "argon2id", secret):
        assert str(hidden) not in said


def test_a_person_changes_the_password_and_every_other_session_ends(app: Flask, engine: Engine) -> None:
    add_person(engine, "anna", Role.VIEWER, PASSWORD)
    here, there = app.test_client(), app.test_client()
    for browser in (here, there):
        log_in(browser)
    path, new = "/console/account/password", "another long secret"
    assert act(here, path, password="wrong", new_password=new).status_code == 422
    assert act(here, path, password=PASSWORD, new_password="short").status_code == 422
    assert there.get("/console/account").status_code == 200
    assert act(here, path, password=PASSWORD, new_password=new).status_code == 303
    assert here.get("/console/account").status_code == 200
    assert there.get("/console/account").status_code == 303
    assert log_in(there, password=new).status_code == 303


def test_a_person_signs_out_everywhere(app: Flask) -> None:
    here, there = (signed_in(app, "anna", Role.VIEWER) for _ in range(2))
    assert here.get("/console/account").text.count("a test") == 2
    assert act(here, "/console/account/sessions/end").status_code == 303
    assert [browser.get("/console/account").status_code for browser in (here, there)] == [303, 303]


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
