"""The audit log: who did what, the newest first, and the head of its chain."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from flask import Response, render_template, request, url_for
from sqlalchemy import ColumnElement, Select, and_, func, or_, select, true
from sqlmodel import Session

from service.console.listing import csv_file, listed, wants_csv
from service.console.own_apps import own_apps, reader, seen
from service.console.own_releases import seen_rollouts, told_rollouts
from service.console.paging import stated
from service.context import services
from service.store.tables import metadata

PAGE_SIZE: Final = 50
_AUDIT: Final = metadata.tables["audit"]
_REVISION: Final = metadata.tables["revision"]
_ROLLOUT: Final = metadata.tables["rollout"]
OF_THE_FLEET: Final = "job:"
"""What acts are about that are no app's. The note of a release may be about any."""
_NUMBERED: Final = re.compile(r"(release|rollout):(\d{1,9})")


def page() -> str | Response:
    """The rows; words narrow them."""
    text = stated(request.args, "q")
    with Session(services().engine) as session:
        if wants_csv():
            return csv_file(session, _query(text), "audit")
        found = listed(session, _query(text), PAGE_SIZE)
        head = session.connection().execute(_rows().limit(1)).first()
    rows = [(row, json.loads(row.detail)) for row in found.rows]
    return render_template(
        "console/audit.html", rows=rows, window=found.window, head=head, text=text, address_of=address_of
    )


def _query(text: str) -> Select[Any]:
    worded = (_AUDIT.c.words.contains(word, autoescape=True) for word in text.lower().split())
    return _rows().where(and_(_seen(), *worded))


def _rows() -> Select[Any]:
    columns = [_AUDIT.c[n] for n in ("number", "at", "actor", "action", "subject", "detail", "sha256")]
    return select(*columns).order_by(_AUDIT.c.number.desc())


def _seen() -> ColumnElement[bool]:
    """What is of the visitor's apps, of the fleet, or their own act."""
    if own_apps() is None:
        return true()
    subject = _AUDIT.c.subject
    own = select(func.concat(_REVISION.c.kind, ":", _REVISION.c.subject)).where(seen(_REVISION.c.app))
    rolled_out = select(func.concat("rollout:", _ROLLOUT.c.number)).where(seen_rollouts(), told_rollouts())
    return or_(
        subject.startswith(OF_THE_FLEET), _AUDIT.c.actor == reader().name, subject.in_(own), subject.in_(rolled_out)
    )


def address_of(subject: str, detail: dict[str, Any]) -> str | None:
    """The page of what an act was about; None where there is none."""
    if isinstance(detail.get("revision"), int):
        return url_for("console.revision", number=detail["revision"])
    named = _NUMBERED.fullmatch(subject)
    return url_for(f"console.{named[1]}", number=int(named[2])) if named else None
