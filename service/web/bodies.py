"""Bodies of operators: bounded, parsed once, strict about typos; and how revisions look to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from flask import request
from sqlmodel import Session

from policies import strict_json
from policies.errors import InvalidField
from policies.quarantine import Quarantine
from policies.revision import Kind
from service.releasing.revisions import ONE_USER
from service.store import revisions
from service.store.tables import RevisionRow
from service.web.door import check_app
from service.web.reading import bounded_body

MAX_BYTES: Final = 8 * 1024 * 1024
MAX_DEPTH: Final = 12
MAX_NOTE: Final = 500


def json_body() -> Any:
    """The request's JSON; raises InvalidInput."""
    return strict_json.loads(bounded_body(MAX_BYTES), max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)


def object_body(*names: str) -> dict[str, Any]:
    """The request's JSON object with these fields and no others; a missing one is left out."""
    raw = json_body()
    if not isinstance(raw, dict):
        raise InvalidField(f"the body is an object with {', '.join(names)}", field=names[0])
    for typo in raw.keys() - set(names):
        raise InvalidField(f"{typo}: this takes {', '.join(names)} and nothing else", field=typo)
    return raw


def note_in(raw: dict[str, Any]) -> str:
    """The note that says why; raises InvalidField where there is none."""
    note = raw.get("note")
    if not isinstance(note, str) or not 1 <= len(note) <= MAX_NOTE:
        raise InvalidField(
            f"note: a text of 1 to {MAX_NOTE} characters says what changes", field="note", limit=MAX_NOTE
        )
    return note


def stated_base() -> int | None:
    """The revision that `If-Match` names, as `ETag` gave it; None without one."""
    header = request.headers.get("If-Match")
    if header is None:
        return None
    tag = header.strip().strip('"')
    number = whole_number(tag)
    if number is None:
        raise InvalidField('If-Match: the ETag of the one you edit, as "17"', field="If-Match")
    return number


def whole_number(text: str) -> int | None:
    """The number in a text, None where it is none that a column could hold."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def whole_in(raw: dict[str, Any], name: str) -> int | None:
    """The whole number of a field, 1.0 too as JSON has one kind of number; None where it was left out, or is none."""
    value = raw.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        return None
    return int(value)


def one_of(field: str, stated: str | None, known: Iterable[str]) -> str | None:
    """A word of a query that has to be one of those known; None where it was left out. Raises InvalidField."""
    if stated is not None and stated not in known:
        raise InvalidField(f"{field}: one of {', '.join(known)}", field=field)
    return stated


def app_of(kind: str, content: dict[str, Any]) -> str | None:
    """The app that a revision concerns; None for all."""
    app: str | None = None if kind == Kind.RECOMMENDATION else content.get("app")
    return app


def check_quarantine(session: Session, held: Quarantine) -> None:
    """Raise NotAllowed where the caller is bound to other apps than its own, or than that of the one it would replace."""
    check_app(held.app)
    standing = revisions.newest(session, Kind.QUARANTINE, held.deny.id)
    if standing is not None:
        check_app(standing.app)


def shown(row: RevisionRow) -> dict[str, Any]:
    """A revision without its content."""
    review = {
        "reviewer": row.reviewer,
        "at": row.reviewed_at.isoformat() if row.reviewed_at else None,
        "note": row.review_note,
        "self_approved": (row.review_note or ONE_USER) if row.self_approved else None,
    }
    return {
        "revision": row.number,
        "kind": row.kind,
        "subject": row.subject,
        "state": row.state,
        "base": row.base,
        "note": row.note,
        "author": row.author,
        "created_at": row.created_at.isoformat(),
        "review": review if row.reviewer else None,
    }
