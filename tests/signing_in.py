"""Somebody at a browser: signed in to the console, sending the forms that its pages have."""

from __future__ import annotations

import re
from typing import Any, Final

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlmodel import Session
from werkzeug.test import TestResponse

from service import clock
from service.console.visitor import COOKIE
from service.context import Services
from service.identity import people
from service.identity.actor import Role
from service.identity.people import NewPerson
from service.store.tables import PersonRow

PASSWORD: Final = "correct horse battery"
_TOKEN: Final = re.compile(r'name="csrf_token" value="([^"]+)"')


def add_person(engine: Engine, name: str, role: Role, password: str | None = None) -> None:
    """An account. Without a password nobody can use it but `signed_in`: hashing one takes its time."""
    with Session(engine) as session, session.begin():
        people.create(session, NewPerson(name, role, password), "test", clock.now())


def signed_in(app: Flask, name: str, role: Role) -> FlaskClient:
    """A browser with a session of this person, who is made if need be."""
    services: Services = app.extensions["nnfleet"]
    with Session(services.engine) as session:
        known = session.get(PersonRow, name)
    if known is None:
        add_person(services.engine, name, role)
    client = app.test_client()
    client.set_cookie(COOKIE, services.sessions.start(name, "a test", clock.now()), path="/console")
    return client


def token_of(client: FlaskClient, base_url: str | None = None) -> str:
    """The token that this browser finds in every form of the console."""
    found = _TOKEN.search(client.get("/console/login", base_url=base_url).text)
    assert found is not None
    return found[1]


def act(client: FlaskClient, path: str, *, base_url: str | None = None, **form: Any) -> TestResponse:
    """Send a form of the console, with the token that its pages carry, unless one is given."""
    if "csrf_token" not in form:
        form["csrf_token"] = token_of(client, base_url)
    referrer = {"Referer": f"{base_url}/console/login"} if base_url else {}
    return client.post(path, data=form, base_url=base_url, headers=referrer)
