"""Releases and recommendations, as rows."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlmodel import Session, col, func, select

from service.store.tables import RecommendationRow, ReleaseRow

CHANNEL = "nnfleet_release"
"""The NOTIFY channel that tells every worker of a new release; the payload is its number."""


def begin_release(session: Session) -> None:
    """Wait until nobody else publishes. To be called before anything is read.

    A publisher that read first and waited then would put its older content under the higher number.
    """
    session.execute(text("LOCK TABLE release IN EXCLUSIVE MODE"))


def add_release(session: Session, content: bytes, digest: str, note: str, now: datetime) -> int:
    """Store the content under the next number and tell the workers when this transaction commits."""
    number = (session.exec(select(func.max(ReleaseRow.number))).one() or 0) + 1
    session.add(ReleaseRow(number=number, published_at=now, note=note, content_sha256=digest, content=content))
    session.flush()
    session.execute(text("SELECT pg_notify(:channel, :number)"), {"channel": CHANNEL, "number": str(number)})
    return number


def newest_number(session: Session) -> int | None:
    """The number of the live release."""
    return session.exec(select(func.max(ReleaseRow.number))).one()


def release(session: Session, number: int) -> ReleaseRow | None:
    """One release with its content."""
    return session.get(ReleaseRow, number)


def history(session: Session, limit: int) -> list[tuple[int, datetime, str, str]]:
    """(number, published at, note, digest) of the newest releases, the newest first."""
    columns = select(ReleaseRow.number, ReleaseRow.published_at, ReleaseRow.note, ReleaseRow.content_sha256)
    return list(session.exec(columns.order_by(col(ReleaseRow.number).desc()).limit(limit)))


def add_recommendation(session: Session, rankings: bytes, figures: dict[str, Any], now: datetime) -> int:
    """Store the rankings of a learning run; returns its id."""
    row = RecommendationRow(made_at=now, figures=figures, rankings=rankings)
    session.add(row)
    session.flush()
    if row.id is None:
        raise RuntimeError("the database gave the recommendation no id")
    return row.id


def newest_recommendation(session: Session) -> RecommendationRow | None:
    """The newest learning run, or None before the first."""
    return session.exec(select(RecommendationRow).order_by(col(RecommendationRow.id).desc()).limit(1)).first()
