"""Releases: publish what is accepted, see what changed, go back."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.errors import UnknownRelease
from service import clock
from service.context import services
from service.releasing.publishing import publish
from service.releasing.publishing import roll_back as go_back
from service.store import releases
from service.store.tables import ReleaseRow
from service.web.bodies import note_in, object_body
from service.web.door import actor

blueprint = Blueprint("releases", __name__, url_prefix="/v1/releases")
PAGE: Final = 100


@blueprint.post("")
def post_release() -> ResponseReturnValue:
    """Publish what is accepted now as the next release; with a key of one app, where only that app changes."""
    note, who = note_in(object_body("note")), actor()
    return jsonify({"release": publish(services().engine, note, clock.now(), who.name, who.apps)}), 201


@blueprint.get("")
def list_releases() -> ResponseReturnValue:
    """The newest hundred releases."""
    with Session(services().engine) as session:
        return jsonify({"releases": [_shown(row) for row in releases.history(session, PAGE)]})


@blueprint.get("/<int:number>")
def get_release(number: int) -> ResponseReturnValue:
    """One release: what it is made of, and what changed against the one before."""
    with Session(services().engine) as session:
        row = releases.release(session, number)
    if row is None:
        raise UnknownRelease(f"there is no release {number}", field="release")
    return jsonify(_shown(row) | {"revisions": row.revisions, "quarantines": row.quarantines, "diff": row.diff})


@blueprint.post("/<int:number>/roll-back")
def roll_back(number: int) -> ResponseReturnValue:
    """Publish the content of that release again, under the next number."""
    note = note_in(object_body("note"))
    return jsonify({"release": go_back(services().engine, number, note, clock.now(), actor().name)}), 201


def _shown(row: ReleaseRow) -> dict[str, Any]:
    who = actor()
    return {
        "release": row.number,
        "published_at": row.published_at.isoformat(),
        "note": row.note if who.apps is None or row.author == who.name else "",  # it may be about any app
        "author": row.author,
        "sha256": row.content_sha256,
    }
