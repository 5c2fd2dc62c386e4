"""Quarantines and kill switches: propose one from a finding, see whom it touches, end it, switch off at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from flask import Response, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import Select, func, select
from sqlmodel import Session

from policies.errors import BaseRequired, EditConflict, InvalidField, InvalidInput, NnfleetError, NotKnown
from policies.quarantine import parse_quarantine
from policies.revision import Kind, State
from service import clock
from service.console.blast_radius import blast_radius
from service.console.findings import seen_finding
from service.console.forms import MOST_NOTE, check_word, done, said, said_why
from service.console.listing import csv_file, listed, says, wants_csv
from service.console.own_apps import seen
from service.console.paging import stated
from service.console.quarantine_form import COHORT, COHORT_LABELS, Form, of_finding, of_form
from service.context import services
from service.releasing.quarantines import Kill, end, kill, put_in_force, quarantine_of
from service.store import revisions
from service.store.tables import metadata
from service.web.bodies import check_quarantine
from service.web.door import actor, check_app

PAGE_SIZE: Final = 25
LASTS: Final = timedelta(days=30)
"""What a proposal says of its end before somebody says otherwise."""
STATES: Final = (
    State.LIVE,
    State.IN_REVIEW,
    State.APPROVED,
    State.REPLACED,
    State.REJECTED,
    State.WITHDRAWN,
    State.ENDED,
)
_REVISION: Final = metadata.tables["revision"]
_LISTED: Final = ("number", "subject", "state", "author", "created_at", "reviewer", "note")


def list_page() -> str | Response:
    """Those of a state (in force, where none is asked for), the newest first."""
    wanted = {"q": stated(request.args, "q"), "state": stated(request.args, "state") or str(State.LIVE)}
    query = _query(**wanted)
    with Session(services().engine) as session:
        if wants_csv():
            return csv_file(session, query, "quarantines")
        found = listed(session, query, PAGE_SIZE)
        of_kind = _REVISION.c.kind == Kind.QUARANTINE
        counted = (
            select(_REVISION.c.state, func.count().label("revisions"))
            .where(of_kind, seen(_REVISION.c.app))
            .group_by(_REVISION.c.state)
        )
        in_states = {row.state: row.revisions for row in session.connection().execute(counted)}
    shown = {"found": found, "wanted": wanted, "states": STATES, "in_states": in_states, "labels": COHORT_LABELS}
    return render_template("console/quarantines.html", **shown)


def _query(q: str, state: str) -> Select[Any]:
    told = _REVISION.c.content
    query = select(*(_REVISION.c[name] for name in _LISTED), told.label("quarantine"))
    query = query.where(_REVISION.c.kind == Kind.QUARANTINE, _REVISION.c.state == state, seen(_REVISION.c.app))
    worded = says(q, _REVISION.c.subject, _REVISION.c.author, _REVISION.c.note, told["deny"]["reason"].astext)
    return query.where(worded).order_by(_REVISION.c.number.desc())


def new_page() -> str:
    """The form, filled in with the narrowest cohort of a finding where one is named; raises NotFound."""
    named = stated(request.args, "finding")
    if not named:
        return _form(Form(until=_until(), owner=actor().name))
    with Session(services().engine) as session:
        row = seen_finding(session, named)
        standing = revisions.newest(session, Kind.QUARANTINE, named)
    return _form(of_finding(row, actor().name, _until(), standing.number if standing else None))


def _until() -> str:
    return (clock.now() + LASTS).date().isoformat()


def preview() -> ResponseReturnValue:
    """The form again, with what the quarantine would take away from whom. Nothing is saved."""
    form = of_form()
    try:
        held = parse_quarantine(form.quarantine())
    except InvalidInput as error:
        return _form(form, error), 422
    check_app(held.app)
    return _form(form, radius=blast_radius(held))


def propose() -> ResponseReturnValue:
    """Put a quarantine up for review. Where there is one user it is in force at once."""
    form = of_form()
    try:
        held, note = parse_quarantine(form.quarantine()), form.said_note()
        with Session(services().engine) as session:
            check_quarantine(session, held)
        row, release = put_in_force(services().engine, held, note, actor(), clock.now(), form.base_number)
    except (InvalidInput, NotKnown) as error:
        return _form(form, error), 422
    except (EditConflict, BaseRequired) as error:
        return _form(form, error), 409
    became = f"in force with release {release}" if release else "waiting for a review"
    return done(f"Quarantine {held.deny.id} is {became}.", "revision", number=row.number)


def _form(form: Form, error: NnfleetError | None = None, radius: dict[str, Any] | None = None) -> str:
    return render_template("console/quarantine.html", form=form, cohort=COHORT, error=error, radius=radius)


def lift(quarantine: str) -> ResponseReturnValue:
    """End one before its day."""
    note = said_why()
    with Session(services().engine) as session:
        row = revisions.newest(session, Kind.QUARANTINE, quarantine)
    check_app(row.app if row else None)
    release = end(services().engine, quarantine, note, actor(), clock.now())
    return done(f"Quarantine {quarantine} has ended, with release {release}.", "quarantines")


def kill_page() -> str:
    """What can be switched off and, once it is named, what that takes from whom."""
    switched = _switched({name: stated(request.args, name) for name in ("app", "model", "arm")}, "to be said")
    if switched.name:
        check_app(switched.app)
    radius = blast_radius(quarantine_of(switched, actor(), clock.now())) if switched.name else None
    return render_template("console/kill.html", switched=switched, radius=radius)


def switch_off() -> ResponseReturnValue:
    """Switch an arm, a model or an app off for everybody, at once."""
    switched = _switched({name: said(name, MOST_NOTE) for name in ("app", "model", "arm")}, said_why())
    check_app(switched.app)
    check_word(switched.name)
    row, release = kill(services().engine, switched, switched.name, actor(), clock.now())
    return done(f"{switched.name} is switched off, with release {release}.", "revision", number=row.number)


def _switched(named: dict[str, str], reason: str) -> Kill:
    if named["model"] and not named["app"]:
        raise InvalidField("app: whose model it is", field="app")
    return Kill(named["app"] or None, named["model"] or None, named["arm"] or None, reason)
