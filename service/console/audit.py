"""The audit log: who did what, the newest first, and the head of its chain."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from flask import Response, render_template, request, url_for
from sqlalchemy import Select, and_, select
from sqlmodel import Session

from service.console.listing import csv_file, listed, wants_csv
from service.console.paging import stated
from service.context import services
from service.store.tables import metadata

PAGE_SIZE: Final = 50
_AUDIT: Final = metadata.tables["audit"]
_NUMBERED: Final = re.compile(r"(release|rollout):(\d{1,9})")


def page() -> str | Response:
    """The rows; words narrow them."""
    text = stated(request.args, "q")
    with Session(services().engine) as session:
        if wants_csv():
            return csv_file(session, _query(text), "audit")
        found = listed(session, _query(text), PAGE_SIZE)
        head = session.connection().execute(_query("").limit(1)).first()
    rows = [(row, json.loads(row.detail)) for row in found.rows]
    return render_template(
        "console/audit.html", rows=rows, window=found.window, head=head, text=text, address_of=address_of
    )


def _query(text: str) -> Select[Any]:
    columns = [_AUDIT.c[n] for n in ("number", "at", "actor", "action", "subject", "detail", "sha256")]
    worded = (_AUDIT.c.words.contains(word, autoescape=True) for word in text.lower().split())
    return select(*columns).where(and_(True, *worded)).order_by(_AUDIT.c.number.desc())


def address_of(subject: str, detail: dict[str, Any]) -> str | None:
    """The page of what an act was about; None where there is none."""
    if isinstance(detail.get("revision"), int):
        return url_for("console.revision", number=detail["revision"])
    named = _NUMBERED.fullmatch(subject)
    return url_for(f"console.{named[1]}", number=int(named[2])) if named else None
