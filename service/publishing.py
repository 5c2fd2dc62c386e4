"""Publish a release, and go back to an earlier one: each numbered, immutable, and with what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import islice
from typing import Any, Final

from sqlalchemy import Engine
from sqlmodel import Session

from policies.arm import ModelSpec
from policies.difference import difference
from policies.document import PolicyDocument
from policies.errors import UnknownRelease
from policies.flags import FlagDocument
from policies.quarantine import Quarantine
from policies.revision import Kind, State, Step
from service.actor import MANAGE_TOKEN
from service.release_content import pack, readable, unpack_rankings
from service.revisions import advance, go_live, return_to
from service.store import audit, releases, revisions
from service.store.keys import one_user
from service.store.releases import NewRelease
from service.store.tables import ReleaseRow, RevisionRow

MOST_CHANGES: Final = 500
"""Lines of a diff that a release keeps; a last line says that more were left out."""


def publish(engine: Engine, note: str, now: datetime, author: str = MANAGE_TOKEN.name) -> int:
    """Publish what is accepted now as the next release; returns its number."""
    with Session(engine) as session, session.begin():
        # All that is read is read once the locks are held: a release mixes no two states.
        releases.begin_release(session)
        revisions.lock(session)
        _accept_what_was_learned(session, author, now)
        carried = _in_force(session, now.date())
        new = NewRelease(
            content_sha256=_keep(session, carried),
            note=note,
            author=author,
            revisions=[row.number for row in carried if row.number is not None],
            quarantines=[row.content for row in carried if row.kind == Kind.QUARANTINE],
        )
        number = _release(session, new, now, "release-published")
        go_live(session, carried)
        return number


def roll_back(engine: Engine, to: int, note: str, now: datetime, author: str = MANAGE_TOKEN.name) -> int:
    """Publish an earlier release's content under the next number; returns that. Quarantines of today stay.

    Raises UnknownRelease.
    """
    with Session(engine) as session, session.begin():
        releases.begin_release(session)
        revisions.lock(session)
        earlier, current = releases.release(session, to), releases.newest(session)
        if earlier is None or current is None:
            raise UnknownRelease(f"there is no release {to}", field="release")
        held = [row for row in _in_force(session, now.date()) if row.kind == Kind.QUARANTINE]
        kept = {row.number for row in held if row.number is not None}
        new = NewRelease(
            content_sha256=earlier.content_sha256,
            note=note,
            author=author,
            revisions=sorted({*earlier.revisions, *kept}),
            quarantines=[row.content for row in held],
        )
        number = _release(session, new, now, "release-rolled-back", to=to)
        return_to(session, {*current.revisions} - kept, {*earlier.revisions})
        return number


def _accept_what_was_learned(session: Session, author: str, now: datetime) -> None:
    """Where there is one user, publishing is reviewing: the newest recommendation comes along, and the log says so."""
    waiting = revisions.in_state(session, Kind.RECOMMENDATION, State.IN_REVIEW)
    if waiting and one_user(session):
        advance(
            session, waiting[-1], Step.APPROVE, author, now, "approved by publishing: the installation has one user"
        )


def _in_force(session: Session, today: date) -> list[RevisionRow]:
    """The accepted revisions; quarantines past their last day end here."""
    carried = revisions.accepted(session)
    over = [row for row in carried if row.kind == Kind.QUARANTINE and _is_over(row, today)]
    revisions.take(session, [row.number for row in over if row.number is not None], Step.END)
    return [row for row in carried if row not in over]


def _is_over(row: RevisionRow, today: date) -> bool:
    until = Quarantine.model_validate(row.content).deny.until
    return until is not None and until < today


def _keep(session: Session, carried: Sequence[RevisionRow]) -> str:
    """Store the content that these revisions make; returns its digest."""
    documents = [PolicyDocument.model_validate(row.content) for row in carried if row.kind == Kind.POLICY]
    models = [ModelSpec.model_validate(row.content) for row in carried if row.kind == Kind.MODEL]
    learned = next((row.content["recommendation"] for row in carried if row.kind == Kind.RECOMMENDATION), None)
    recommendation = releases.recommendation(session, learned) if learned is not None else None
    rankings = unpack_rankings(recommendation.rankings) if recommendation else {}
    flags = [FlagDocument.model_validate(row.content) for row in carried if row.kind == Kind.FLAGS]
    content, digest = pack(documents, models, rankings, flags)
    releases.keep_content(session, content, digest)
    return digest


def _release(session: Session, new: NewRelease, now: datetime, action: str, **detail: Any) -> int:
    before = releases.newest(session)
    changes = list(islice(_changes(session, before, new), MOST_CHANGES + 1))
    if len(changes) > MOST_CHANGES:
        changes[MOST_CHANGES:] = [{"path": "…", "before": None, "after": "more was left out"}]
    number = releases.add_release(session, replace(new, diff=changes), now)
    audit.append(
        session, now, new.author, action, f"release:{number}", note=new.note, sha256=new.content_sha256,
        revisions=list(new.revisions), **detail,
    )  # fmt: skip
    return number


def _changes(session: Session, before: ReleaseRow | None, new: NewRelease) -> Iterator[dict[str, Any]]:
    nothing: dict[str, Any] = {"documents": {}, "models": {}, "flags": {}, "rankings": {}, "quarantines": {}}
    old = readable(releases.content(session, before.content_sha256), before.quarantines) if before else nothing
    now = readable(releases.content(session, new.content_sha256), new.quarantines)
    return (change.to_json() for change in difference(old, now))
