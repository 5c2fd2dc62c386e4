"""Signing in and out."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import structlog
from flask import make_response, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from service import clock
from service.console.paging import MAX_TEXT, PREFIX, stated
from service.console.visitor import COOKIE, forget, look_up, remember
from service.context import services
from service.store import people

log = structlog.get_logger(__name__)

WRONG: Final = "This name and password do not fit, or the account is shut."
"""One answer for all of it: nobody learns which names there are."""
TOO_MANY: Final = "Too many attempts. Wait a minute, then try again."


def page() -> str:
    """The form; where nobody has an account yet, how to make the first one."""
    return login_page(local(request.args.get("next", "")))


def log_in() -> ResponseReturnValue:
    """Sign in, and go on to where the visitor wanted to be."""
    name, password = stated(request.form, "name").lower(), request.form.get("password", "")
    following = local(request.form.get("next", ""))
    wait_s = services().attempts.wait_s(name, request.remote_addr or "", clock.now())
    if wait_s:
        log.warning("sign-in-refused", by="attempts", name=name)
        return login_page(following, name=name, error=TOO_MANY), 429, {"Retry-After": str(wait_s)}
    if not services().sessions.password_matches(name, password):
        log.warning("sign-in-refused", by="password", name=name)
        return login_page(following, name=name, error=WRONG), 401
    services().attempts.succeeded(name)
    return welcome(name, following)


def welcome(name: str, following: str) -> ResponseReturnValue:
    """Sign a person in who was let in, and go on."""
    # What stood in the cookies before does not go along: neither a session nor a token of forms that somebody planted.
    session.clear()
    had = request.cookies.get(COOKIE)
    secret = services().sessions.start(name, request.user_agent.string, clock.now(), instead_of=had)
    response = make_response(redirect(following, 303))
    remember(response, secret)
    return response


def log_out() -> ResponseReturnValue:
    """End the session; it opens nothing any more, whoever kept its cookie."""
    found = look_up()
    if found is not None:
        services().sessions.end(found, clock.now())
    session.clear()
    response = make_response(redirect(url_for("console.login"), 303))
    forget(response)
    return response


def local(address: str) -> str:
    """The address, if it is a page of the console; else the first page. Nobody is sent elsewhere from here."""
    parts = urlsplit(address) if address.isprintable() and "\\" not in address else urlsplit("")
    within = parts.path == PREFIX or parts.path.startswith(f"{PREFIX}/")
    elsewhere = parts.scheme or parts.netloc or not within or len(address) > 10 * MAX_TEXT
    return url_for("console.fleet") if elsewhere else address


def login_page(following: str, *, name: str = "", error: str = "") -> str:
    """The form, with what went wrong."""
    with Session(services().engine) as opened:
        anybody = people.anybody(opened)
    return render_template("console/login.html", following=following, name=name, error=error, anybody=anybody)
