"""Files of models: uploaded by form, kept as the API keeps them, and what was read from each. Nothing of one is run."""

from __future__ import annotations

import hashlib
from pathlib import PurePath
from typing import Any, Final

from flask import Response, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import Select, select
from sqlmodel import Session
from werkzeug.datastructures import FileStorage

from policies.errors import BodyTooLarge, InvalidInput
from service import clock
from service.artifacts.receiving import PIECE_BYTES, check_room, received
from service.artifacts.registering import register
from service.artifacts.store import ArtifactStore, NoArtifactStore
from service.console.file_coverage import file_coverage
from service.console.forms import done
from service.console.listing import csv_file, listed, says, wants_csv
from service.console.own_apps import own_apps, reader, seen_file
from service.console.paging import stated
from service.context import services
from service.registry.model_file import ModelFileError
from service.store import artifacts
from service.store.tables import metadata
from service.web.door import actor

PAGE_SIZE: Final = 25
MOST_FIELD_BYTES: Final = 64 * 1024
"""Beside the file, in the form that brings it."""
_ARTIFACT: Final = metadata.tables["artifact"]
_LISTED: Final = ("sha256", "size_bytes", "format", "precision", "uploaded_by", "uploaded_at")


def list_page() -> str | Response:
    """The files, the newest first, and the form that brings another."""
    if wants_csv():
        with Session(services().engine) as session:
            return csv_file(session, _query(stated(request.args, "q")), "files")
    return _shown()


def make_ready() -> ResponseReturnValue | None:
    """Before the body of an upload is read: the page with its fault where it is too large or there is no room."""
    request.max_content_length = _most_bytes() + MOST_FIELD_BYTES
    announced = request.content_length or 0
    try:
        if announced > request.max_content_length:
            raise _too_large()
        check_room(_store().incoming, announced, services().settings.least_free_bytes)
    except BodyTooLarge as error:
        return _shown(error.detail), 413
    return None


def upload() -> ResponseReturnValue:
    """Keep the file of the form, after it was read in a process of its own."""
    file = request.files.get("file")
    if file is None or not file.filename:
        return _shown("choose a file first"), 422
    try:
        sha256, new = _kept(file)
    except (ModelFileError, BodyTooLarge) as error:
        return _shown(f"{PurePath(file.filename).name}: {_reason(error)}"), 422
    what = "is kept" if new else "was here already, and was read again"
    return done(f"{PurePath(file.filename).name} {what}.", "file", sha256=sha256, name=PurePath(file.filename).stem)


def _kept(file: FileStorage) -> tuple[str, bool]:
    """(digest, whether it is new)."""
    store = _store()
    # It waits in a file of its own already, which is read for its digest first: a form cannot announce one.
    digest = hashlib.sha256()
    while piece := file.stream.read(PIECE_BYTES):
        digest.update(piece)
    file.stream.seek(0)
    sha256 = digest.hexdigest()
    with received(file.stream.read, sha256, store.incoming, _most_bytes()) as path:
        _, new = register(services().engine, store, sha256, path, actor().name, clock.now())
    return sha256, new


def _reason(error: InvalidInput) -> str:
    return error.reason if not isinstance(error, ModelFileError) else f"{error.detail}; it was not kept"


def _too_large() -> BodyTooLarge:
    return BodyTooLarge(f"the file has over {_most_bytes():,} bytes; it was not kept", limit=_most_bytes())


def file_page(sha256: str) -> str:
    """What one file says; raises UnknownArtifact."""
    with Session(services().engine) as session:
        row = seen_file(session, sha256)
        used_by = [use for use in artifacts.variants_of(session, sha256) if reader().sees(use.app)]
        covered = file_coverage(session, row)
    return render_template(
        "console/file.html",
        row=row,
        facts=row.facts,
        used_by=used_by,
        covered=covered,
        name=stated(request.args, "name"),
    )


def _shown(error: str = "") -> str:
    text = stated(request.args, "q")
    with Session(services().engine) as session:
        found = listed(session, _query(text), PAGE_SIZE)
    return render_template(
        "console/files.html",
        found=found,
        text=text,
        error=error,
        keeps=services().artifacts is not None,
        most_bytes=_most_bytes(),
    )


def _query(text: str) -> Select[Any]:
    query = select(*(_ARTIFACT.c[name] for name in _LISTED))
    query = query.where(
        says(text, _ARTIFACT.c.sha256, _ARTIFACT.c.format, _ARTIFACT.c.precision, _ARTIFACT.c.uploaded_by)
    )
    query = query.where(artifacts.of_apps(own_apps(), reader().name))
    return query.order_by(_ARTIFACT.c.uploaded_at.desc(), _ARTIFACT.c.sha256)


def _most_bytes() -> int:
    return services().settings.most_artifact_bytes


def _store() -> ArtifactStore:
    store = services().artifacts
    if store is None:
        raise NoArtifactStore("this installation keeps no files: start it with NNFLEET_ARTIFACTS")
    return store
