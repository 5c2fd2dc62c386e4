"""Signing in at an OpenID provider: a real one runs beside the test."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from flask.testing import FlaskClient
from signing_in import add_person
from sqlalchemy import Engine
from sqlmodel import Session, select
from werkzeug.test import TestResponse

from service import clock
from service.app import create_app
from service.identity import people
from service.identity.actor import Role
from service.settings import Settings
from service.store.tables import PersonRow, PersonSessionRow

HERE = "http://localhost"


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """The address of a provider that lets everybody in as whom they say."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            httpx.get(f"{url}/.well-known/openid-configuration")
            break
        except httpx.TransportError:
            time.sleep(0.1)
    yield url
    process.terminate()
    process.wait()


@pytest.fixture
def told(settings: Settings, issuer: str) -> Settings:
    return replace(
        settings, public_url=HERE, oidc_issuer=issuer, oidc_client_id="nnfleet", oidc_client_secret="hush",
        oidc_roles="fleet-admins=admin, fleet=operator", oidc_role_claim="access.roles",
    )  # fmt: skip


@pytest.fixture
def browser(told: Settings, engine: Engine) -> FlaskClient:
    return create_app(told, engine).test_client()


def know(issuer: str, subject: str, name: str | None, *roles: str) -> None:
    claims = {"access": {"roles": list(roles)}} | ({"preferred_username": name} if name else {})
    httpx.put(f"{issuer}/users/{subject}", json=claims).raise_for_status()


def sent_to(browser: FlaskClient, following: str = "") -> str:
    """The provider's page that the visitor is sent to."""
    answer = browser.get("/console/login/provider", query_string={"next": following})
    assert answer.status_code == 302
    return answer.headers["Location"]


def allowed(address: str, subject: str) -> str:
    """Where the provider sends the visitor who signs in there."""
    answer = httpx.post(address, data={"sub": subject})
    assert answer.status_code == 302
    return str(answer.headers["Location"])


def sign_in(browser: FlaskClient, subject: str, following: str = "") -> TestResponse:
    return browser.get(allowed(sent_to(browser, following), subject))


def test_who_signs_in_there_is_known_here_by_name_and_role(browser: FlaskClient, engine: Engine, issuer: str) -> None:
    know(issuer, "a-1", "Anna", "fleet", "staff")
    answer = sign_in(browser, "a-1", "/console/classes?page=2")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/console/classes?page=2")
    assert 'anna</a> <span class="quiet">operator' in browser.get("/console/jobs").text
    with Session(engine) as session:
        row = session.exec(select(PersonRow)).one()
    assert (row.name, row.issuer, row.subject, row.password_hash) == ("anna", issuer, "a-1", None)


def test_the_provider_is_asked_with_state_nonce_and_a_challenge(browser: FlaskClient, issuer: str) -> None:
    asked = parse_qs(urlsplit(sent_to(browser)).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [f"{HERE}/console/login/provider/back"]
    assert all(len(asked[name][0]) >= 20 for name in ("state", "nonce", "code_challenge"))


def test_the_way_back_does_not_follow_the_host_of_the_request(browser: FlaskClient, issuer: str) -> None:
    answer = browser.get("/console/login/provider", headers={"Host": "evil.example"})
    assert "evil" not in answer.headers["Location"]


@pytest.mark.parametrize("following", ["https://evil.example/", "//evil.example", "/v1/releases"])
def test_a_sign_in_leads_nowhere_else(browser: FlaskClient, issuer: str, following: str) -> None:
    know(issuer, "a-1", "anna", "fleet")
    assert sign_in(browser, "a-1", following).headers["Location"] == "/console/"


def test_an_answer_that_nobody_asked_for_is_refused(
    browser: FlaskClient, told: Settings, engine: Engine, issuer: str
) -> None:
    know(issuer, "a-1", "anna", "fleet")
    back = allowed(sent_to(browser), "a-1")
    victim = create_app(told, engine).test_client()
    assert victim.get(back).status_code == 401
    forged = back.replace("state=", "state=x")
    assert browser.get(forged).status_code == 401
    assert browser.get("/console/login/provider/back").status_code == 401
    with Session(engine) as session:
        assert session.exec(select(PersonSessionRow)).all() == []


def test_an_answer_is_good_once(browser: FlaskClient, issuer: str) -> None:
    know(issuer, "a-1", "anna", "fleet")
    back = allowed(sent_to(browser), "a-1")
    assert [browser.get(back).status_code for _ in range(2)] == [303, 401]


def test_a_visitor_whom_the_provider_refuses_is_told_so(browser: FlaskClient, issuer: str) -> None:
    answer = httpx.post(sent_to(browser), data={"action": "deny"})
    assert browser.get(answer.headers["Location"]).status_code == 401


def test_who_has_no_role_there_has_no_access_or_the_one_that_is_stated(
    browser: FlaskClient, told: Settings, engine: Engine, issuer: str
) -> None:
    know(issuer, "z-1", "zoe", "guests")
    answer = sign_in(browser, "z-1")
    assert answer.status_code == 403
    assert "gives no role here" in answer.text
    open_to_all = create_app(replace(told, oidc_other_role="viewer"), engine).test_client()
    assert sign_in(open_to_all, "z-1").status_code == 303
    assert 'class="quiet">viewer' in open_to_all.get("/console/jobs").text


def test_another_role_there_is_another_role_here_from_the_next_sign_in_on(browser: FlaskClient, issuer: str) -> None:
    for roles, role in ((["fleet"], "operator"), (["fleet", "fleet-admins"], "admin")):
        know(issuer, "a-1", "anna", *roles)
        sign_in(browser, "a-1")
        assert f'class="quiet">{role}' in browser.get("/console/jobs").text


def test_a_name_that_is_taken_is_not_taken_over(browser: FlaskClient, engine: Engine, issuer: str) -> None:
    add_person(engine, "anna", Role.ADMIN)
    for subject, name in (("e-1", "Anna"), ("e-2", "guard"), ("e-3", "<script>"), ("e-4", None)):
        know(issuer, subject, name, "fleet")
        assert sign_in(browser, subject).status_code == 403, name
    with Session(engine) as session:
        assert [row.name for row in session.exec(select(PersonRow))] == ["anna"]


def test_who_is_shut_out_here_does_not_come_in_from_there(browser: FlaskClient, engine: Engine, issuer: str) -> None:
    know(issuer, "a-1", "anna", "fleet")
    sign_in(browser, "a-1")
    with Session(engine) as session, session.begin():
        people.disable(session, "anna", "test", clock.now())
    assert sign_in(browser, "a-1").status_code == 403


def test_the_apps_come_with_each_sign_in_where_the_provider_tells_them(
    told: Settings, engine: Engine, issuer: str
) -> None:
    telling = replace(told, oidc_apps="camera-team=camera, photos=gallery, fleet-admins=*")
    browser = create_app(telling, engine).test_client()

    def apps(*roles: str) -> list[str] | None:
        know(issuer, "m-1", "mia", *roles)
        assert sign_in(browser, "m-1").status_code == 303
        with Session(engine) as session:
            return session.exec(select(PersonRow)).one().apps

    assert apps("fleet", "camera-team") == ["camera"]
    assert browser.get("/console/policies/gallery").status_code == 403
    assert apps("fleet", "camera-team", "photos") == ["camera", "gallery"]
    assert apps("fleet-admins", "photos") is None
    know(issuer, "m-1", "mia", "fleet")
    assert sign_in(browser, "m-1").status_code == 403


def test_a_provider_that_tells_no_apps_leaves_them_as_they_were_set_here(
    browser: FlaskClient, engine: Engine, issuer: str
) -> None:
    know(issuer, "a-1", "anna", "fleet")
    sign_in(browser, "a-1")
    with Session(engine) as session, session.begin():
        people.set_apps(session, "anna", frozenset({"camera"}), "test", clock.now())
    assert sign_in(browser, "a-1").status_code == 303
    with Session(engine) as session:
        assert session.exec(select(PersonRow)).one().apps == ["camera"]


def test_a_provider_that_does_not_answer_is_said_to(told: Settings, engine: Engine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}"
    browser = create_app(replace(told, oidc_issuer=nowhere), engine).test_client()
    answer = browser.get("/console/login/provider")
    assert answer.status_code == 503
    assert "does not answer" in answer.text


def test_the_login_offers_the_provider_where_there_is_one(
    browser: FlaskClient, settings: Settings, engine: Engine
) -> None:
    assert "/console/login/provider?next=" in browser.get("/console/login").text
    without = create_app(settings, engine).test_client()
    assert "/console/login/provider" not in without.get("/console/login").text
    assert without.get("/console/login/provider").status_code == 404


@pytest.mark.parametrize(
    "wrong", [{"oidc_client_id": None}, {"public_url": None}, {"oidc_roles": "a=owner"}, {"oidc_other_role": "root"}]
)
def test_a_provider_that_is_stated_by_half_stops_the_start(
    told: Settings, engine: Engine, wrong: dict[str, str | None]
) -> None:
    with pytest.raises(ValueError, match=r"NNFLEET_OIDC|is no role"):
        create_app(replace(told, **wrong), engine)  # type: ignore[arg-type]
