"""Releases and recommendations, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, func, select

from service.store.revisions import MAX_NUMBER
from service.store.tables import RecommendationRow, ReleaseContentRow, ReleaseRow

CHANNEL = "nnfleet_release"
"""The NOTIFY channel that tells every worker of a new release; the payload is its number."""


def begin_release(session: Session) -> None:
    """Wait until nobody else publishes. To be called before anything is read.

    A publisher that read first and waited then would put its older content under the higher number.
    """
    session.execute(text("LOCK TABLE release IN EXCLUSIVE MODE"))


@dataclass(frozen=True, slots=True)
class NewRelease:
    """A release before it has a number: see `ReleaseRow`."""

    content_sha256: str
    note: str
    author: str
    revisions: Sequence[int] = ()
    quarantines: Sequence[dict[str, Any]] = ()
    diff: Sequence[dict[str, Any]] = ()
    candidate_sha256: str | None = None
    share_bp: int | None = None
    rollout: int | None = None


def keep_content(session: Session, content: bytes, digest: str) -> None:
    """Store the content under its digest, once."""
    row = {"sha256": digest, "content": content}
    session.execute(insert(ReleaseContentRow).values(**row).on_conflict_do_nothing())


def add_release(session: Session, new: NewRelease, now: datetime) -> int:
    """Store the release under the next number and tell the workers when this transaction commits."""
    number = (session.exec(select(func.max(ReleaseRow.number))).one() or 0) + 1
    row = ReleaseRow(
        number=number,
        published_at=now,
        note=new.note,
        author=new.author,
        content_sha256=new.content_sha256,
        revisions=list(new.revisions),
        quarantines=list(new.quarantines),
        diff=list(new.diff),
        candidate_sha256=new.candidate_sha256,
        share_bp=new.share_bp,
        rollout=new.rollout,
    )
    session.add(row)
    session.flush()
    session.execute(text("SELECT pg_notify(:channel, :number)"), {"channel": CHANNEL, "number": str(number)})
    return number


def newest_number(session: Session) -> int | None:
    """The number of the live release."""
    return session.exec(select(func.max(ReleaseRow.number))).one()


def release(session: Session, number: int) -> ReleaseRow | None:
    """One release, without its content."""
    return session.get(ReleaseRow, number) if number <= MAX_NUMBER else None


def newest(session: Session) -> ReleaseRow | None:
    """The live release, without its content."""
    return session.exec(select(ReleaseRow).order_by(col(ReleaseRow.number).desc()).limit(1)).first()


def content(session: Session, sha256: str) -> bytes:
    """The content with this digest; raises KeyError where there is none."""
    row = session.get(ReleaseContentRow, sha256)
    if row is None:
        raise KeyError(sha256)
    return row.content


def history(session: Session, limit: int) -> list[ReleaseRow]:
    """The newest releases, the newest first."""
    return list(session.exec(select(ReleaseRow).order_by(col(ReleaseRow.number).desc()).limit(limit)))


def add_recommendation(session: Session, rankings: bytes, figures: dict[str, Any], now: datetime) -> int:
    """Store the rankings of a learning run; returns its id."""
    row = RecommendationRow(made_at=now, figures=figures, rankings=rankings)
    session.add(row)
    session.flush()
    if row.id is None:
        raise RuntimeError("the database gave the recommendation no id")
    return row.id


def recommendation(session: Session, number: int) -> RecommendationRow | None:
    """One learning run."""
    return session.get(RecommendationRow, number)
