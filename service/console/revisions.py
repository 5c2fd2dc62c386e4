"""Revisions: who proposes what, in which state it is, what it changes, who approved it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from flask import Response, render_template, request
from sqlalchemy import Select, func, select
from sqlmodel import Session

from policies.difference import Change, difference
from policies.revision import ACCEPTED, Kind, State
from service.console.fleet_figures import LearningRun, learning_run
from service.console.listing import csv_file, listed, says, wants_csv
from service.console.own_apps import reader, seen, seen_revision
from service.console.paging import Window, stated, stated_number
from service.console.reviews import review_of
from service.console.text_kinds import TEXT_KINDS
from service.console.watching import over
from service.context import services
from service.releasing.revisions import ONE_USER
from service.store import revisions
from service.store.simulation_runs import share_done
from service.store.tables import RevisionRow, metadata

PAGE_SIZE: Final = 50
MOST_CHANGES: Final = 500
_REVISION: Final = metadata.tables["revision"]
_LISTED: Final = (
    "number", "kind", "subject", "state", "author", "created_at", "note", "reviewer", "reviewed_at", "review_note",
    "self_approved",
)  # fmt: skip
_WAITING: Final = frozenset({State.DRAFT, State.IN_REVIEW})


def list_page() -> str | Response:
    """The newest first; by kind, state and words."""
    wanted = {name: stated(request.args, name) for name in ("q", "kind", "state")}
    query = _query(**wanted)
    with Session(services().engine) as session:
        if wants_csv():
            return csv_file(session, query, "revisions")
        found = listed(session, query, PAGE_SIZE)
        counted = (
            select(_REVISION.c.state, func.count().label("revisions"))
            .where(seen(_REVISION.c.app))
            .group_by(_REVISION.c.state)
        )
        in_states = {row.state: row.revisions for row in session.connection().execute(counted)}
    return render_template(
        "console/revisions.html", found=found, wanted=wanted, kinds=list(Kind), states=list(State), in_states=in_states
    )


def _query(q: str, kind: str, state: str) -> Select[Any]:
    query = select(*(_REVISION.c[name] for name in _LISTED))
    query = query.where(seen(_REVISION.c.app))
    query = query.where(says(q, _REVISION.c.subject, _REVISION.c.author, _REVISION.c.note, _REVISION.c.reviewer))
    for column, asked in ((_REVISION.c.kind, kind), (_REVISION.c.state, state)):
        query = query.where(column == asked) if asked else query
    return query.order_by(_REVISION.c.number.desc())


def revision_page(number: int) -> str | Response:
    """One revision; raises UnknownRevision."""
    with Session(services().engine) as session, session.begin():
        row = seen_revision(session, number)
        before = _before(session, row)
        learned = _learned(session, row)
        review = review_of(session, row)
        session.expunge_all()
    trying = review.run.state if review.run else ""
    if (fresh := over(trying)) is not None:
        return fresh
    changes = changes_between(readable(row.kind, before.content if before else {}), readable(row.kind, row.content))
    window = Window.of(stated_number(request.args, "page"), PAGE_SIZE, min(len(changes), MOST_CHANGES))
    return render_template(
        "console/revision.html",
        row=row,
        before=before,
        learned=learned,
        changes=[change.to_json() for change in changes[window.offset : window.last]],
        window=window,
        cut=len(changes) > MOST_CHANGES,
        most=MOST_CHANGES,
        one_user=ONE_USER,
        review=review,
        trying=trying,
        share_done=share_done,
        texts=TEXT_KINDS,
    )


def _learned(session: Session, row: RevisionRow) -> LearningRun | None:
    """The run that a recommendation carries, without its rankings. Its gate names models of all apps."""
    number = row.content.get("recommendation") if row.kind == Kind.RECOMMENDATION and reader().touches(None) else None
    return learning_run(session, number) if isinstance(number, int) else None


def _before(session: Session, row: RevisionRow) -> RevisionRow | None:
    """What a reviewer compares with is what is accepted now; what was decided is compared with what it was made from."""
    if row.state in _WAITING:
        return revisions.newest(session, Kind(row.kind), row.subject, ACCEPTED)
    return revisions.revision(session, row.base) if row.base is not None else None


def readable(kind: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The content as people compare it: the graphs of a model, which are long, told by their length and digest."""
    if kind != Kind.MODEL or "variants" not in content:
        return content
    variants = [dict(variant) | {"graph": _told(variant.get("graph"))} for variant in content["variants"]]
    return dict(content) | {"variants": variants}


def _told(graph: Mapping[str, Any] | None) -> str | None:
    if graph is None:
        return None
    digest = hashlib.sha256(json.dumps(graph, sort_keys=True).encode()).hexdigest()
    return f"{len(graph['nodes']):,} operations, sha256 {digest[:12]}…"


def changes_between(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Sequence[Change]:
    """One more than are shown, where there are. A part that is stated as null is no change of one that is not there."""
    found = difference(before or {}, after)
    return list(islice((c for c in found if (c.before, c.after) != (None, None)), MOST_CHANGES + 1))
