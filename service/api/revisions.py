"""Revisions: save a draft, send it to review, approve or reject it; see what it would change."""

from __future__ import annotations

import re
from typing import Final

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.difference import difference
from policies.errors import InvalidField, NotAllowed
from policies.quarantine import Quarantine
from policies.revision import ACCEPTED, PERSONAL, Kind, State, Step
from service import clock
from service.context import services
from service.identity.actor import Role
from service.releasing.quarantines import approve
from service.releasing.revisions import Proposal, advance, save
from service.releasing.stated_content import stated_content
from service.store import revisions
from service.web.bodies import app_of, check_quarantine, note_in, object_body, one_of, shown, whole_in
from service.web.door import actor, check_app

blueprint = Blueprint("revisions", __name__, url_prefix="/v1/revisions")
PAGE: Final = 100
_SUBJECT: Final = re.compile(r"[A-Za-z0-9._/-]{1,257}")
_APPROVERS: Final = frozenset({Step.APPROVE, Step.REJECT})


@blueprint.get("")
def list_revisions() -> ResponseReturnValue:
    """The newest hundred; `kind`, `state` and `subject` narrow them."""
    asked = request.args
    kind, state = one_of("kind", asked.get("kind"), list(Kind)), one_of("state", asked.get("state"), list(State))
    subject = asked.get("subject")
    if subject is not None and not _SUBJECT.fullmatch(subject):
        raise InvalidField("subject: an app, an app and a model with a slash between, or an id", field="subject")
    with Session(services().engine) as session:
        found = revisions.page(session, kind, state, subject, PAGE, actor().apps)
        return jsonify({"revisions": [shown(row) for row in found]})


@blueprint.get("/<int:number>")
def get_revision(number: int) -> ResponseReturnValue:
    """One revision with its content, and what it would change of what is accepted."""
    with Session(services().engine) as session:
        row = revisions.revision(session, number)
        check_app(app_of(row.kind, row.content))
        accepted = revisions.newest(session, Kind(row.kind), row.subject, ACCEPTED)
        changes = [c.to_json() for c in difference(accepted.content if accepted else None, row.content)]
    return jsonify(shown(row) | {"content": row.content, "changes": changes})


@blueprint.post("")
def post_revision() -> ResponseReturnValue:
    """Save a draft. `base` is the revision it edits; without one it is of something new."""
    raw = object_body("kind", "content", "note", "base")
    with Session(services().engine) as session:
        kind, subject, content = stated_content(session, raw.get("kind"), raw.get("content"))
        if kind is Kind.QUARANTINE:
            check_quarantine(session, Quarantine.model_validate(content))
    check_app(app_of(kind, content))
    base = whole_in(raw, "base")
    if base is None and raw.get("base") is not None:
        raise InvalidField("base: the number of the revision you edit", field="base")
    with Session(services().engine, expire_on_commit=False) as session, session.begin():
        row = save(session, Proposal(kind, subject, content, note_in(raw), base), actor().name, clock.now())
    return jsonify(shown(row)), 201


@blueprint.post("/<int:number>/<step>")
def step(number: int, step: str) -> ResponseReturnValue:
    """Take a step with a revision: submit, approve, reject or withdraw, with a note why."""
    taken = next((known for known in PERSONAL if known == step), None)
    if taken is None:
        raise InvalidField(f"step: one of {', '.join(PERSONAL)}", field="step")
    if taken in _APPROVERS and actor().role < Role.APPROVER:
        raise NotAllowed(f"{taken} needs the role approver")
    note = note_in(object_body("note"))
    with Session(services().engine, expire_on_commit=False) as session, session.begin():
        row = revisions.revision(session, number)
        check_app(app_of(row.kind, row.content))
        if row.kind == Kind.QUARANTINE and taken is Step.APPROVE:
            return jsonify(shown(approve(session, row, actor().name, clock.now(), note)))
        return jsonify(shown(advance(session, row, taken, actor().name, clock.now(), note)))
