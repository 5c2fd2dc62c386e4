"""Quarantines and the kill switch."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.errors import InvalidField
from policies.quarantine import parse_quarantine
from policies.revision import Kind, State
from service import clock
from service.context import services
from service.releasing.quarantines import Kill, put_in_force
from service.releasing.quarantines import end as lift
from service.releasing.quarantines import kill as switch_off
from service.store import revisions
from service.store.tables import RevisionRow
from service.web.bodies import check_quarantine, note_in, object_body, shown
from service.web.door import actor, check_app

blueprint = Blueprint("quarantines", __name__, url_prefix="/v1")


@blueprint.get("/quarantines")
def list_quarantines() -> ResponseReturnValue:
    """Those that are in force, with evidence, owner and end."""
    with Session(services().engine) as session:
        held = revisions.in_state(session, Kind.QUARANTINE, State.LIVE)
        rows = [row for row in held if actor().sees(row.app)]
        return jsonify({"quarantines": [shown(row) | {"quarantine": row.content} for row in rows]})


@blueprint.post("/quarantines")
def post_quarantine() -> ResponseReturnValue:
    """Propose a quarantine; once it is approved, it is in a release at once."""
    raw = object_body("quarantine", "note")
    held = parse_quarantine(raw.get("quarantine"))
    with Session(services().engine) as session:
        check_quarantine(session, held)
    return _answer(*put_in_force(services().engine, held, note_in(raw), actor(), clock.now()))


@blueprint.post("/quarantines/<quarantine>/end")
def end(quarantine: str) -> ResponseReturnValue:
    """Lift a quarantine before its day; in a release at once."""
    note = note_in(object_body("note"))
    return jsonify({"release": lift(services().engine, quarantine, note, actor(), clock.now())})


@blueprint.post("/kill")
def kill() -> ResponseReturnValue:
    """Switch off an arm, a model or an app at once; `confirm` repeats its name."""
    raw = object_body("app", "model", "arm", "reason", "confirm")
    app, model, arm, reason, confirm = (_text(raw, name) for name in ("app", "model", "arm", "reason", "confirm"))
    if reason is None:
        raise InvalidField("reason: say why", field="reason")
    if model is not None and app is None:
        raise InvalidField("app: whose model it is", field="app")
    check_app(app)
    switched = Kill(app, model, arm, reason)
    return _answer(*switch_off(services().engine, switched, confirm or "", actor(), clock.now()))


def _text(raw: dict[str, Any], name: str) -> str | None:
    value = raw.get(name)
    if value is not None and not (isinstance(value, str) and 1 <= len(value) <= 500):
        raise InvalidField(f"{name}: a text of 1 to 500 characters", field=name, limit=500)
    return value


def _answer(row: RevisionRow, release: int | None) -> ResponseReturnValue:
    return jsonify(shown(row) | {"release": release}), 201 if row.state != State.IN_REVIEW else 202
