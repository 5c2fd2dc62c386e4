"""API keys: made here, shown once, revoked for good."""

from __future__ import annotations

from typing import Any, Final

from flask import render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import Select, func, select
from sqlmodel import Session
from werkzeug.wrappers import Response

from policies.errors import InvalidField
from service import clock
from service.console.forms import check_word, done, said
from service.console.listing import csv_file, listed, says, wants_csv
from service.console.paging import stated
from service.context import services
from service.identity import keyring
from service.identity.access import Scope
from service.identity.actor import Role
from service.identity.keyring import NewKey
from service.store.tables import metadata
from service.web import door

PAGE_SIZE: Final = 50
STATES: Final = ("open", "revoked")
MOST_NAME: Final = 100
_KEY: Final = metadata.tables["api_key"]
_LISTED: Final = ("name", "scopes", "role", "app", "created_at", "revoked_at")


def list_page() -> ResponseReturnValue:
    """The keys by name, without their secrets."""
    if wants_csv():
        with Session(services().engine) as session:
            return csv_file(session, _query(**_wanted()), "keys")
    return _page()


def create() -> ResponseReturnValue:
    """Make a key. The page that answers shows its secret; no other will."""
    try:
        new = _asked()
        with Session(services().engine) as session, session.begin():
            secret = keyring.create(session, new, door.actor().name, clock.now())
    except InvalidField as error:
        return _page(errors={error.field or "": error.detail}), 422
    return _page(made=new.name, secret=secret)


def revoke() -> Response:
    """Shut a key for good."""
    name = said("name", MOST_NAME)
    check_word(name)
    with Session(services().engine) as session, session.begin():
        keyring.revoke(session, name, door.actor().name, clock.now())
    return done(f"The key {name} is revoked.", "keys")


def _asked() -> NewKey:
    name, role = said("name", MOST_NAME), said("role", 20)
    scopes = frozenset(scope for scope in Scope if scope in request.form.getlist("scope"))
    if not name:
        raise InvalidField("a key has a name", field="name")
    if not scopes:
        raise InvalidField("a key opens something", field="scope")
    return NewKey(name, scopes, _role(role), said("app", MOST_NAME) or None)


def _role(name: str) -> Role | None:
    return next((role for role in Role if role.name.lower() == name), None)


def _wanted() -> dict[str, str]:
    return {name: stated(request.args, name) for name in ("q", "state")}


def _query(q: str, state: str) -> Select[Any]:
    query = select(*(_KEY.c[name] for name in _LISTED)).order_by(_KEY.c.name)
    query = query.where(says(q, _KEY.c.name, _KEY.c.app, _KEY.c.role, func.array_to_string(_KEY.c.scopes, " ")))
    if state in STATES:
        query = query.where(_KEY.c.revoked_at.is_(None) == (state == "open"))
    return query


def _page(*, made: str = "", secret: str = "", errors: dict[str, str] | None = None) -> str:
    wanted = _wanted()
    with Session(services().engine) as session:
        found = listed(session, _query(**wanted), PAGE_SIZE)
    return render_template(
        "console/keys.html",
        found=found,
        wanted=wanted,
        states=STATES,
        scopes=list(Scope),
        roles=[role.name.lower() for role in Role],
        made=made,
        secret=secret,
        asked=request.form,
        errors=errors or {},
    )
