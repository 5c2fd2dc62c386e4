"""One's own account: where one is signed in, and another password."""

from __future__ import annotations

from flask import render_template, request
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.errors import InvalidField
from service import clock
from service.console.forms import done
from service.console.login import welcome
from service.console.visitor import visitor
from service.context import services
from service.identity import people as accounts
from service.identity.passwords import LEAST_CHARACTERS
from service.store import people
from service.web import door

WRONG = "This is not your password."


def page() -> str:
    """Who one is, and every session of one's own."""
    return _page({})


def change_password() -> ResponseReturnValue:
    """Another password, for who knows the one there is. All other sessions end; this one goes on under a new id."""
    name, now = door.actor().name, clock.now()
    if services().attempts.wait_s(name, request.remote_addr or "", now):
        return _page({"password": "Too many attempts. Wait a minute, then try again."}), 429
    if not services().sessions.password_matches(name, request.form.get("password", "")):
        return _page({"password": WRONG}), 422
    services().attempts.succeeded(name)
    try:
        with Session(services().engine) as session, session.begin():
            accounts.set_password(session, name, request.form.get("new_password", ""), name, now)
    except InvalidField as error:
        return _page({"new_password": error.detail}), 422
    return welcome(name, "/console/account")


def end_sessions() -> ResponseReturnValue:
    """Sign out everywhere, here too."""
    name = door.actor().name
    with Session(services().engine) as session, session.begin():
        accounts.end_sessions(session, name, name, clock.now())
    return done("You are signed out everywhere.", "login")


def _page(errors: dict[str, str]) -> str:
    name, who = door.actor().name, visitor()
    with Session(services().engine) as session:
        row = people.by_name(session, name)
        sessions = people.sessions_of(session, name)
    return render_template(
        "console/account.html",
        person=row,
        sessions=sessions,
        own=who.id_sha256 if who else None,
        errors=errors,
        least=LEAST_CHARACTERS,
    )
