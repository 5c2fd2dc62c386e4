"""Publish a release, and go back to an earlier one: each numbered, immutable, and with what changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import islice
from typing import Any, Final

from sqlalchemy import Engine
from sqlmodel import Session

from policies.difference import difference
from policies.document import PolicyDocument
from policies.errors import NotAllowed, UnknownRelease
from policies.flags import FlagDocument
from policies.model import ModelSpec
from policies.quarantine import Quarantine
from policies.revision import Kind, State, Step
from service.identity.actor import MANAGE_TOKEN
from service.releasing.release_content import pack, readable, unpack_rankings
from service.releasing.revisions import advance, go_live, return_to
from service.store import audit, releases, revisions, rollouts
from service.store.people import one_user
from service.store.releases import NewRelease
from service.store.tables import ReleaseRow, RevisionRow

MOST_CHANGES: Final = 500
"""Lines of a diff that a release keeps; a last line says that more were left out."""


def publish(
    engine: Engine, note: str, now: datetime, author: str = MANAGE_TOKEN.name, apps: Collection[str] | None = None
) -> int:
    """Publish what is accepted now as the next release; returns its number.

    `apps`: the only ones that it may change, None for all. Raises RolloutActive, and NotAllowed where it would change others.
    """
    with Session(engine) as session, session.begin():
        # All that is read is read once the locks are held: a release mixes no two states.
        releases.begin_release(session)
        rollouts.refuse_where_one_is_active(session)
        carried, digest = next_content(session, author, now)
        if apps is not None:
            _check_only(session, apps, carried)
        new = NewRelease(digest, note, author, numbers_of(carried), quarantines_of(carried))
        number = release(session, new, now, "release-published")
        go_live(session, carried)
        return number


def _check_only(session: Session, apps: Collection[str], carried: Sequence[RevisionRow]) -> None:
    """A release is all that is accepted: who is bound to apps publishes it where nothing else comes or goes with it."""
    live = releases.newest(session)
    changed = {*numbers_of(carried)} ^ {*(live.revisions if live else ())}
    touched = revisions.apps_of(session, changed)
    if not touched or not touched <= set(apps):
        what = "other apps too, or what concerns all of them" if touched else "nothing"
        raise NotAllowed(f"this release would change {what}", field="app")


def next_content(session: Session, author: str, now: datetime) -> tuple[list[RevisionRow], str]:
    """(revisions, digest of the content) of the next release. The caller holds the lock of releases."""
    revisions.lock(session)
    _accept_what_was_learned(session, author, now)
    carried = in_force(session, now.date())
    return carried, _keep(session, carried)


def numbers_of(carried: Sequence[RevisionRow]) -> list[int]:
    """Their numbers."""
    return [row.number for row in carried if row.number is not None]


def quarantines_of(carried: Sequence[RevisionRow]) -> list[dict[str, Any]]:
    """The quarantines among them."""
    return [row.content for row in carried if row.kind == Kind.QUARANTINE]


def roll_back(engine: Engine, to: int, note: str, now: datetime, author: str = MANAGE_TOKEN.name) -> int:
    """Publish an earlier release's content under the next number; returns that. Quarantines of today stay.

    Raises UnknownRelease, and RolloutActive: a rollout is aborted, which goes back by itself.
    """
    with Session(engine) as session, session.begin():
        releases.begin_release(session)
        rollouts.refuse_where_one_is_active(session)
        revisions.lock(session)
        earlier, current = releases.release(session, to), releases.newest(session)
        if earlier is None or current is None:
            raise UnknownRelease(f"there is no release {to}", field="release")
        number, kept = return_content(
            session, earlier.content_sha256, earlier.revisions, note, author, now, "release-rolled-back"
        )
        return_to(session, {*current.revisions} - kept, earlier.revisions)
        return number


def return_content(
    session: Session, digest: str, made_of: Sequence[int], note: str, author: str, now: datetime, action: str
) -> tuple[int, set[int]]:
    """Publish a content that was live before, under the quarantines of today; returns (number, these quarantines)."""
    held = [row for row in in_force(session, now.date()) if row.kind == Kind.QUARANTINE]
    kept = set(numbers_of(held))
    new = NewRelease(digest, note, author, sorted({*made_of, *kept}), quarantines_of(held))
    return release(session, new, now, action), kept


def republish(session: Session, note: str, author: str, now: datetime, action: str) -> int | None:
    """The live release again, under the quarantines of now, a rollout's both sides too; None where nothing is live."""
    releases.begin_release(session)
    revisions.lock(session)
    live = releases.newest(session)
    if live is None:
        return None
    held = [row for row in in_force(session, now.date()) if row.kind == Kind.QUARANTINE]
    before = {row.number for row in revisions.of_kind(session, Kind.QUARANTINE, live.revisions)}
    new = NewRelease(
        live.content_sha256,
        note,
        author,
        sorted({*live.revisions} - before | {*numbers_of(held)}),
        quarantines_of(held),
        candidate_sha256=live.candidate_sha256,
        share_bp=live.share_bp,
        rollout=live.rollout,
    )
    number = release(session, new, now, action)
    go_live(session, held)
    return number


def _accept_what_was_learned(session: Session, author: str, now: datetime) -> None:
    """Where there is one user, publishing is reviewing: the newest recommendation comes along, and the log says so."""
    waiting = revisions.in_state(session, Kind.RECOMMENDATION, State.IN_REVIEW)
    if waiting and one_user(session):
        advance(
            session, waiting[-1], Step.APPROVE, author, now, "approved by publishing: the installation has one user"
        )


def in_force(session: Session, today: date) -> list[RevisionRow]:
    """The accepted revisions. Quarantines past their last day end here."""
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


def release(session: Session, new: NewRelease, now: datetime, action: str, **detail: Any) -> int:
    """Give the release its number and its diff, tell the workers, note it. The caller holds the lock of releases."""
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
