"""What operators and CI call: register models, state policies, publish releases. Behind a bearer token."""

from __future__ import annotations

import hmac
from typing import Any, Final

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies import strict_json
from policies.arm import ModelSpec
from policies.document_text import MAX_JSON_BYTES, parse_document_text
from policies.errors import InvalidField
from policies.validation import validated
from service import clock
from service.api.devices import bounded_body
from service.api.problems import Unauthenticated
from service.context import services
from service.releases import publish
from service.store import models, releases

blueprint = Blueprint("management", __name__, url_prefix="/v1")
MAX_BYTES: Final = 8 * 1024 * 1024
MAX_DEPTH: Final = 12


@blueprint.before_request
def authenticate() -> None:
    """Denied unless the token is the one this installation was given; without one the API is shut."""
    token = services().settings.manage_token
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if not token or scheme.lower() != "bearer" or not hmac.compare_digest(given.encode(), token.encode()):
        raise Unauthenticated("send the management token: Authorization: Bearer …", field="Authorization")


def _json() -> Any:
    return strict_json.loads(bounded_body(MAX_BYTES), max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)


def _same(field: str, in_address: str, in_body: str) -> None:
    if in_address != in_body:
        raise InvalidField(f"{field}: the address says {in_address!r}, the body {in_body!r}", field=field)


@blueprint.put("/models/<app>/<name>")
def put_model(app: str, name: str) -> ResponseReturnValue:
    """Register a model with its variants."""
    spec = validated(ModelSpec, _json())
    _same("app", app, spec.app)
    _same("name", name, spec.name)
    with Session(services().engine) as session, session.begin():
        models.put_model(session, spec, clock.now())
    return jsonify({"app": app, "name": name, "variants": len(spec.variants)})


@blueprint.put("/policies/<app>")
def put_policy(app: str) -> ResponseReturnValue:
    """State the policy of an app. Devices see it from the next release on."""
    document = parse_document_text(bounded_body(MAX_JSON_BYTES), media_type=request.mimetype)
    _same("app", app, document.app)
    with Session(services().engine) as session, session.begin():
        models.put_policy(session, document, clock.now())
    return jsonify(document.model_dump(mode="json", by_alias=True))


@blueprint.post("/releases")
def post_release() -> ResponseReturnValue:
    """Publish what is stored now as the next release."""
    raw = _json()
    if not isinstance(raw, dict):
        raise InvalidField("the body is an object with a note", field="note")
    for typo in raw.keys() - {"note"}:
        raise InvalidField(f"{typo}: a release has a note and nothing else", field=typo)
    note = raw.get("note")
    if not isinstance(note, str) or not 1 <= len(note) <= 500:
        raise InvalidField("note: a text of 1 to 500 characters says what changes", field="note", limit=500)
    return jsonify({"release": publish(services().engine, note, clock.now())}), 201


@blueprint.get("/releases")
def list_releases() -> ResponseReturnValue:
    """The newest hundred releases."""
    with Session(services().engine) as session:
        rows = releases.history(session, 100)
    return jsonify(
        {
            "releases": [
                {"release": n, "published_at": at.isoformat(), "note": note, "sha256": d} for n, at, note, d in rows
            ]
        }
    )
