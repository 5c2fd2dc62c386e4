"""Releases: what devices were shown, and when; what each is made of, and what it changed."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, render_template, request
from sqlalchemy import Select, func, select
from sqlmodel import Session

from policies.errors import UnknownRelease
from service.console.listing import csv_file, listed, wants_csv
from service.console.paging import Window, stated_number
from service.context import services
from service.store import releases
from service.store.tables import metadata

PAGE_SIZE: Final = 50
_RELEASE: Final = metadata.tables["release"]
_CONTENT: Final = metadata.tables["release_content"]
_REVISION: Final = metadata.tables["revision"]


def list_page() -> str | Response:
    """The history, the newest first."""
    query = _history()
    with Session(services().engine) as session:
        if wants_csv():
            return csv_file(session, query, "releases")
        found = listed(session, query, PAGE_SIZE)
        newest = releases.newest_number(session)
    return render_template("console/releases.html", found=found, newest=newest, served=services().lookup.release)


def _history() -> Select[Any]:
    plain = [_RELEASE.c[n] for n in ("number", "published_at", "author", "note", "share_bp", "rollout")]
    size = func.length(_CONTENT.c.content).label("size_bytes")
    changes = func.jsonb_array_length(_RELEASE.c.diff).label("changes")
    joined = _RELEASE.join(_CONTENT, _CONTENT.c.sha256 == _RELEASE.c.content_sha256)
    columns = select(*plain, changes, _RELEASE.c.content_sha256, size).select_from(joined)
    return columns.order_by(_RELEASE.c.number.desc())


def release_page(number: int) -> str:
    """One release; raises UnknownRelease."""
    with Session(services().engine) as session:
        row = releases.release(session, number)
        if row is None:
            raise UnknownRelease(f"there is no release {number}", field="release")
        newest = releases.newest_number(session)
        made_of = Window.of(stated_number(request.args, "revisions"), PAGE_SIZE, len(row.revisions))
        carried = session.connection().execute(_carried(row.revisions[made_of.offset : made_of.last])).all()
    changed = Window.of(stated_number(request.args, "page"), PAGE_SIZE, len(row.diff))
    return render_template(
        "console/release.html",
        row=row,
        newest=newest,
        carried=carried,
        made_of=made_of,
        changes=row.diff[changed.offset : changed.last],
        changed=changed,
    )


def _carried(numbers: list[int]) -> Select[Any]:
    columns = [_REVISION.c[n] for n in ("number", "kind", "subject", "state", "author", "created_at", "reviewer")]
    return select(*columns).where(_REVISION.c.number.in_(numbers)).order_by(_REVISION.c.number.desc())
