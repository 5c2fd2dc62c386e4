"""Artifacts: model files and golden references by their digest. They never change, so whoever has one never asks again."""

from __future__ import annotations

import base64
import re
from http import HTTPStatus
from typing import Any, BinaryIO, Final

from flask import Blueprint, Response, jsonify, request
from flask.typing import ResponseReturnValue
from sqlmodel import Session
from werkzeug.exceptions import PreconditionFailed, RequestedRangeNotSatisfiable
from werkzeug.wsgi import FileWrapper, wrap_file

from policies.errors import BodyTooLarge, InvalidField
from service import clock
from service.artifacts.receiving import check_room, received
from service.artifacts.registering import register
from service.artifacts.store import ArtifactStore, NoArtifactStore, UnknownArtifact
from service.context import services
from service.store import artifacts
from service.store.tables import ArtifactRow
from service.web.door import actor

blueprint = Blueprint("artifacts", __name__, url_prefix="/v1/artifacts")
PAGE: Final = 100
CACHE_CONTROL: Final = "public, max-age=31536000, immutable"
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@blueprint.put("/<sha256>")
def put_artifact(sha256: str) -> ResponseReturnValue:
    """Upload a file under the digest of its bytes. 201 where it is new, 200 where it was here already."""
    store, settings = _store(), services().settings
    _check(sha256)
    announced, most = request.content_length or 0, settings.most_artifact_bytes
    if announced > most:
        raise BodyTooLarge(f"the file has over {most} bytes", limit=most)
    check_room(store.incoming, announced, settings.least_free_bytes)
    with received(request.stream.read, sha256, store.incoming, most) as file:
        row, new = register(services().engine, store, sha256, file, actor().name, clock.now())
    remarks = row.facts["remarks"] if row.facts else []
    return jsonify(_shown(row) | {"remarks": remarks}), 201 if new else 200


@blueprint.get("/<sha256>")
def get_artifact(sha256: str) -> ResponseReturnValue:
    """The file, or a range of it; 304 where the client has it."""
    _check(sha256)
    store = _store()
    size_bytes, file = store.size_bytes(sha256), store.open(sha256)
    answer = Response(_bytes(file), mimetype="application/octet-stream", direct_passthrough=True)
    answer.call_on_close(file.close)
    answer.content_length = size_bytes
    answer.headers["Cache-Control"] = CACHE_CONTROL
    answer.headers["Content-Digest"] = f"sha-256=:{base64.b64encode(bytes.fromhex(sha256)).decode()}:"
    answer.set_etag(sha256)
    try:
        made = answer.make_conditional(_one_range(size_bytes), accept_ranges=True, complete_length=size_bytes)
    except RequestedRangeNotSatisfiable:
        file.close()
        raise
    if made.status_code == HTTPStatus.PRECONDITION_FAILED:
        file.close()
        raise PreconditionFailed
    return made


def _one_range(size_bytes: int) -> dict[str, Any]:
    """The request, without a range that RFC 9110 has answered with the whole: of another unit, several, or longer than it."""
    ranges = request.range.ranges if request.range is not None and request.range.units == "bytes" else []
    if len(ranges) == 1 and ranges[0][0] >= -size_bytes:
        return request.environ
    return {name: value for name, value in request.environ.items() if name != "HTTP_RANGE"}


@blueprint.get("/<sha256>/facts")
def get_facts(sha256: str) -> ResponseReturnValue:
    """What was read from the file."""
    _check(sha256)
    with Session(services().engine) as session:
        row = artifacts.artifact(session, sha256)
        if row is None or not artifacts.is_of(session, sha256, actor().apps, actor().name):
            raise UnknownArtifact(f"no file of the digest {sha256} is kept here", field="sha256")
        return jsonify(_shown(row) | {"facts": row.facts})


@blueprint.get("")
def list_artifacts() -> ResponseReturnValue:
    """The hundred files uploaded last."""
    with Session(services().engine) as session:
        found = artifacts.newest(session, PAGE, actor().apps, actor().name)
        return jsonify({"artifacts": [_shown(row) for row in found]})


def _store() -> ArtifactStore:
    store = services().artifacts
    if store is None:
        raise NoArtifactStore("this installation keeps no files: start it with NNFLEET_ARTIFACTS")
    return store


def _check(sha256: str) -> None:
    if not _SHA256.fullmatch(sha256):
        raise InvalidField("sha256: 64 hexadecimal digits in small letters", field="sha256")


def _bytes(file: BinaryIO) -> Any:
    """The server sends a whole file from the disk to the socket by itself; for a part the reading seeks to its start."""
    return FileWrapper(file) if request.range else wrap_file(request.environ, file)


def _shown(row: ArtifactRow) -> dict[str, Any]:
    return {
        "sha256": row.sha256,
        "size_bytes": row.size_bytes,
        "format": row.format,
        "precision": row.precision,
        "uploaded_by": row.uploaded_by,
        "uploaded_at": row.uploaded_at.isoformat(),
    }
