"""Releases: what devices were shown, and when; what each is made of, and what it changed."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from flask import Response, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import Select, func, select
from sqlmodel import Session

from policies.difference import difference
from policies.errors import UnknownRelease
from service import clock
from service.console.forms import check_word, done, said_why
from service.console.listing import csv_file, listed, wants_csv
from service.console.own_apps import reader, seen
from service.console.own_releases import seen_changes, seen_note, seen_notes
from service.console.paging import Window, stated_number
from service.context import services
from service.releasing.publishing import publish, roll_back
from service.releasing.release_content import readable
from service.store import releases, revisions
from service.store.tables import ReleaseRow, metadata
from service.web.door import actor

PAGE_SIZE: Final = 50
MOST_UNDONE: Final = 50
"""Changes that are shown before somebody goes back."""
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
        waiting = [row for row in revisions.approved(session) if reader().sees(row.app)]
    served = services().lookup.release
    return render_template("console/releases.html", found=found, newest=newest, served=served, waiting=waiting)


def _history() -> Select[Any]:
    plain = [_RELEASE.c[n] for n in ("number", "published_at", "author", "share_bp", "rollout")]
    note = seen_notes().label("note")
    size = func.length(_CONTENT.c.content).label("size_bytes")
    changes = func.jsonb_array_length(_RELEASE.c.diff).label("changes")
    joined = _RELEASE.join(_CONTENT, _CONTENT.c.sha256 == _RELEASE.c.content_sha256)
    columns = select(*plain, note, changes, _RELEASE.c.content_sha256, size).select_from(joined)
    return columns.order_by(_RELEASE.c.number.desc())


def release_page(number: int) -> str:
    """One release; raises UnknownRelease."""
    with Session(services().engine) as session:
        row = releases.release(session, number)
        if row is None:
            raise UnknownRelease(f"there is no release {number}", field="release")
        newest = releases.newest_number(session)
        numbers = list(session.connection().execute(_seen(row.revisions)).scalars())
        made_of = Window.of(stated_number(request.args, "revisions"), PAGE_SIZE, len(numbers))
        carried = session.connection().execute(_carried(numbers[made_of.offset : made_of.last])).all()
        undone = seen_changes(session, _undone(session, row, newest)) if number != newest else []
        changes = seen_changes(session, row.diff)
    changed = Window.of(stated_number(request.args, "page"), PAGE_SIZE, len(changes))
    return render_template(
        "console/release.html",
        row=row,
        note=seen_note(row.author, row.note),
        newest=newest,
        carried=carried,
        made_of=made_of,
        changes=changes[changed.offset : changed.last],
        quarantines=[held for held in row.quarantines if reader().sees(held["app"])],
        changed=changed,
        undone=undone,
        most_undone=MOST_UNDONE,
    )


def _undone(session: Session, earlier: ReleaseRow, newest: int | None) -> list[dict[str, Any]]:
    """What going back to it would change of what is live. Quarantines of today stay, so they are left out."""
    live = releases.release(session, newest) if newest is not None else None
    if live is None:
        return []
    before, after = (
        readable(releases.content(session, sha256), ()) for sha256 in (live.content_sha256, earlier.content_sha256)
    )
    return [change.to_json() for change in islice(difference(before, after), MOST_UNDONE + 1)]


def publish_approved() -> ResponseReturnValue:
    """Publish what is approved to everybody; who is bound to apps, where only these change."""
    number = publish(services().engine, said_why(), clock.now(), actor().name, actor().apps)
    return done(f"Release {number} is live.", "release", number=number)


def go_back(number: int) -> ResponseReturnValue:
    """Publish the content of an earlier release again, under the next number."""
    check_word(str(number))
    released = roll_back(services().engine, number, said_why(), clock.now(), actor().name)
    return done(f"Release {released} is live, and holds what release {number} held.", "release", number=released)


def _seen(numbers: list[int]) -> Select[Any]:
    """Those of these revisions that the visitor sees."""
    found = select(_REVISION.c.number).where(_REVISION.c.number.in_(numbers), seen(_REVISION.c.app))
    return found.order_by(_REVISION.c.number)


def _carried(numbers: list[int]) -> Select[Any]:
    columns = [_REVISION.c[n] for n in ("number", "kind", "subject", "state", "author", "created_at", "reviewer")]
    return select(*columns).where(_REVISION.c.number.in_(numbers)).order_by(_REVISION.c.number.desc())
