"""Policies, models and plain flags of an app: read what stands, propose another. Devices see it from the next release on."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify, request, url_for
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.document_text import MAX_JSON_BYTES, parse_document_text
from policies.errors import EditConflict, InvalidField, UnknownApp, UnknownModel
from policies.flags import FlagDocument
from policies.revision import Kind, State
from policies.validation import validated
from service import clock
from service.artifacts.declared import model_spec
from service.context import services
from service.releasing.revisions import Proposal, propose
from service.store import revisions
from service.store.tables import RevisionRow
from service.web.bodies import json_body, shown, stated_base
from service.web.door import actor, check_app
from service.web.reading import bounded_body

blueprint = Blueprint("policies", __name__, url_prefix="/v1")


@blueprint.get("/policies")
def list_policies() -> ResponseReturnValue:
    """The newest standing revision of every app's policy, without its document."""
    with Session(services().engine) as session:
        standing = revisions.standing(session, Kind.POLICY)
        return jsonify({"policies": [shown(row) for row in standing if actor().sees(row.app)]})


@blueprint.get("/policies/<app>")
def get_policy(app: str) -> ResponseReturnValue:
    """The newest standing document of an app, with the ETag that an edit of it names."""
    return _standing(Kind.POLICY, app)


@blueprint.put("/policies/<app>")
def put_policy(app: str) -> ResponseReturnValue:
    """Propose the policy of an app."""
    document = parse_document_text(bounded_body(MAX_JSON_BYTES), media_type=request.mimetype)
    _same("app", app, document.app)
    content = document.model_dump(mode="json", by_alias=True)
    row = _proposed(app, Kind.POLICY, app, content)
    return _tagged(row, content, _status(row))


@blueprint.get("/flags/<app>")
def get_flags(app: str) -> ResponseReturnValue:
    """The newest standing plain flags of an app, with the ETag that an edit of them names."""
    return _standing(Kind.FLAGS, app)


@blueprint.put("/flags/<app>")
def put_flags(app: str) -> ResponseReturnValue:
    """Propose the plain flags of an app."""
    document = validated(FlagDocument, json_body())
    _same("app", app, document.app)
    content = document.model_dump(mode="json", by_alias=True)
    row = _proposed(app, Kind.FLAGS, app, content)
    return _tagged(row, content, _status(row))


@blueprint.get("/models/<app>/<name>")
def get_model(app: str, name: str) -> ResponseReturnValue:
    """The newest standing model of that name, with the ETag that an edit of it names."""
    check_app(app)
    with Session(services().engine) as session:
        row = revisions.newest(session, Kind.MODEL, f"{app}/{name}")
    if row is None:
        raise UnknownModel(f"no model {name!r} was ever declared for an app {app!r}", field="name")
    return _tagged(row, row.content, 200)


@blueprint.put("/models/<app>/<name>")
def put_model(app: str, name: str) -> ResponseReturnValue:
    """Propose a model with its variants."""
    with Session(services().engine) as session:
        spec = model_spec(session, json_body())
    _same("app", app, spec.app)
    _same("name", name, spec.name)
    row = _proposed(app, Kind.MODEL, f"{app}/{name}", spec.model_dump(mode="json"))
    return _tagged(row, {"app": app, "name": name, "variants": len(spec.variants)}, _status(row))


def _standing(kind: Kind, app: str) -> Response:
    check_app(app)
    with Session(services().engine) as session:
        row = revisions.newest(session, kind, app)
    if row is None:
        raise UnknownApp(f"nothing of the kind {kind} was ever stated for an app {app!r}", field="app")
    return _tagged(row, row.content, 200)


def _proposed(app: str, kind: Kind, subject: str, content: dict[str, Any]) -> RevisionRow:
    check_app(app)
    proposal = Proposal(kind, subject, content, f"put {kind} {subject}", stated_base())
    with Session(services().engine, expire_on_commit=False) as session, session.begin():
        if request.headers.get("If-None-Match", "").strip() == "*":
            _check_new(session, kind, subject)
        return propose(session, proposal, actor(), clock.now())


def _check_new(session: Session, kind: Kind, subject: str) -> None:
    """Raise EditConflict where something stands, for an edit that says that nothing does."""
    revisions.lock(session)
    standing = revisions.newest(session, kind, subject)
    if standing is not None:
        detail = f"{kind}:{subject} exists: {standing.author} saved revision {standing.number}"
        raise EditConflict(detail, field="If-None-Match")


def _status(row: RevisionRow) -> int:
    """200 where it is accepted, 202 where somebody has to review it."""
    return 200 if row.state == State.APPROVED else 202


def _tagged(row: RevisionRow, body: Any, status: int) -> Response:
    answer = jsonify(body)
    answer.status_code = status
    answer.headers["ETag"] = f'"{row.number}"'
    answer.headers["Location"] = url_for("revisions.get_revision", number=row.number)
    answer.headers["Nnfleet-Review"] = row.state
    if row.self_approved:
        answer.headers["Nnfleet-Review"] = f"{row.state}; by its author, as the installation has one user"
    return answer


def _same(field: str, in_address: str, in_body: str) -> None:
    if in_address != in_body:
        raise InvalidField(f"{field}: the address says {in_address!r}, the body {in_body!r}", field=field)
