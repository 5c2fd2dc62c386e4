"""People: who may sign in, as what, and where they are signed in."""

from __future__ import annotations

from typing import Any, Final

from flask import render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import Select, func, select
from sqlmodel import Session
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from policies.errors import InvalidField, NotAllowed
from service import clock
from service.console.forms import check_word, done, said
from service.console.listing import csv_file, listed, says, wants_csv
from service.console.paging import stated
from service.context import services
from service.identity import people as accounts
from service.identity.actor import Role
from service.identity.passwords import LEAST_CHARACTERS
from service.identity.people import NewPerson
from service.store import people
from service.store.tables import metadata
from service.web import door

PAGE_SIZE: Final = 50
STATES: Final = ("open", "shut out")
ROLES: Final = {role.name.lower(): role for role in Role}
MOST_NAME: Final = 100
MOST_APPS_CHARACTERS: Final = 2_000
_PERSON: Final = metadata.tables["person"]
_SESSION: Final = metadata.tables["person_session"]


def list_page() -> ResponseReturnValue:
    """Everybody, by name."""
    if wants_csv():
        with Session(services().engine) as session:
            return csv_file(session, _query(**_wanted()), "users")
    return _page({})


def create() -> ResponseReturnValue:
    """Make an account with a first password, which its person changes."""
    name, role = said("name", MOST_NAME), said("role", 20)
    try:
        if role not in ROLES:
            raise InvalidField("a person has a role", field="role")
        new = NewPerson(name, ROLES[role], request.form.get("password", ""), apps=_apps())
        with Session(services().engine) as session, session.begin():
            accounts.create(session, new, door.actor().name, clock.now())
    except InvalidField as error:
        return _page({error.field or "": error.detail}), 422
    return done(f"{name} may sign in as {role}.", "user", name=name)


def user_page(name: str) -> str:
    """One person, and everywhere they are signed in; raises NotFound."""
    with Session(services().engine) as session:
        row = people.by_name(session, name)
        if row is None:
            raise NotFound(f"There is nobody called {name!r}.")
        sessions = people.sessions_of(session, name)
    return render_template(
        "console/user.html",
        person=row,
        sessions=sessions,
        roles=ROLES,
        own=door.actor().name == name,
        apps_elsewhere=bool(row.issuer and services().settings.oidc_apps),
    )


def set_role(name: str) -> Response:
    """Another role, from their next request on."""
    _not_oneself(name)
    role = said("role", 20)
    if role not in ROLES:
        raise InvalidField("a person has a role", field="role")
    with Session(services().engine) as session, session.begin():
        accounts.set_role(session, name, ROLES[role], door.actor().name, clock.now())
    return done(f"{name} is {role} from now on.", "user", name=name)


def set_apps(name: str) -> Response:
    """Bind them to apps, or to none, from their next request on."""
    _not_oneself(name)
    apps = _apps()
    with Session(services().engine) as session, session.begin():
        accounts.set_apps(session, name, apps, door.actor().name, clock.now())
    return done(f"{name} has {'all apps' if apps is None else ', '.join(sorted(apps))} from now on.", "user", name=name)


def _apps() -> frozenset[str] | None:
    """The apps of the form, with commas or blanks between; None for all."""
    return frozenset(said("apps", MOST_APPS_CHARACTERS).replace(",", " ").split()) or None


def end_sessions(name: str) -> Response:
    """Sign somebody out everywhere."""
    with Session(services().engine) as session, session.begin():
        ended = accounts.end_sessions(session, name, door.actor().name, clock.now())
    return done(f"{ended} {'session is' if ended == 1 else 'sessions are'} ended.", "user", name=name)


def disable(name: str) -> Response:
    """Shut somebody out at once."""
    _not_oneself(name)
    check_word(name)
    with Session(services().engine) as session, session.begin():
        accounts.disable(session, name, door.actor().name, clock.now())
    return done(f"{name} is shut out.", "user", name=name)


def enable(name: str) -> Response:
    """Let somebody in again."""
    with Session(services().engine) as session, session.begin():
        accounts.enable(session, name, door.actor().name, clock.now())
    return done(f"{name} may sign in again.", "user", name=name)


def _not_oneself(name: str) -> None:
    """Whoever acts stays an admin of all apps: so there is always one."""
    if name == door.actor().name:
        raise NotAllowed("Nobody takes role, apps or access from themselves; another admin does.")


def _wanted() -> dict[str, str]:
    return {name: stated(request.args, name) for name in ("q", "role", "state")}


def _query(q: str, role: str, state: str) -> Select[Any]:
    signed_in = select(func.count()).where(_SESSION.c.person == _PERSON.c.name).scalar_subquery().label("sessions")
    columns = [_PERSON.c[name] for name in ("name", "role", "apps", "issuer", "created_at", "disabled_at")]
    query = (
        select(*columns, signed_in)
        .where(says(q, _PERSON.c.name, func.array_to_string(_PERSON.c.apps, " ")))
        .order_by(_PERSON.c.name)
    )
    if role in ROLES:
        query = query.where(_PERSON.c.role == role)
    if state in STATES:
        query = query.where(_PERSON.c.disabled_at.is_(None) == (state == "open"))
    return query


def _page(errors: dict[str, str]) -> str:
    wanted = _wanted()
    with Session(services().engine) as session:
        found = listed(session, _query(**wanted), PAGE_SIZE)
    return render_template(
        "console/users.html",
        found=found,
        wanted=wanted,
        roles=list(ROLES),
        states=STATES,
        asked=request.form,
        errors=errors,
        least=LEAST_CHARACTERS,
    )
