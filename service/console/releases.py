"""Releases: what devices were shown, and when."""

from __future__ import annotations

from typing import Final

from flask import render_template, request
from sqlalchemy import func, select
from sqlmodel import Session

from service.console.paging import Window, stated_number
from service.context import services
from service.store.tables import metadata

PAGE_SIZE: Final = 50
_RELEASE: Final = metadata.tables["release"]
_CONTENT: Final = metadata.tables["release_content"]


def page() -> str:
    """The history, the newest first."""
    columns = [_RELEASE.c[name] for name in ("number", "published_at", "note", "content_sha256")]
    size = func.length(_CONTENT.c.content).label("size_bytes")
    with Session(services().engine) as session:
        connection = session.connection()
        total, newest = connection.execute(select(func.count(), func.max(_RELEASE.c.number))).one()
        window = Window.of(stated_number(request.args, "page"), PAGE_SIZE, total)
        joined = select(*columns, size).join(_CONTENT, _CONTENT.c.sha256 == _RELEASE.c.content_sha256)
        history = joined.order_by(_RELEASE.c.number.desc())
        rows = connection.execute(history.offset(window.offset).limit(window.size)).all()
    return render_template(
        "console/releases.html", rows=rows, window=window, newest=newest, served=services().lookup.release
    )
