"""Comments and simulations of revisions, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlmodel import Session, col, func, select

from service.store.tables import RevisionCommentRow, RevisionSimulationRow

MOST_COMMENTS: Final = 500
"""Shown of one revision, the newest of them."""


def add_comment(session: Session, revision: int, author: str, text: str, now: datetime) -> None:
    """Store what somebody said."""
    session.add(RevisionCommentRow(revision=revision, at=now, author=author, text=text))
    session.flush()


def add_simulation(session: Session, revision: int, asked_by: str, found: dict[str, Any], now: datetime) -> None:
    """Store what a simulation found."""
    session.add(RevisionSimulationRow(revision=revision, at=now, asked_by=asked_by, found=found))
    session.flush()


def comments(session: Session, revision: int) -> list[RevisionCommentRow]:
    """What was said, the oldest first."""
    found = select(RevisionCommentRow).where(RevisionCommentRow.revision == revision)
    newest = session.exec(found.order_by(col(RevisionCommentRow.id).desc()).limit(MOST_COMMENTS))
    return list(reversed(newest.all()))


def newest_simulation(session: Session, revision: int) -> RevisionSimulationRow | None:
    """The last one that was kept with the revision."""
    found = select(RevisionSimulationRow).where(RevisionSimulationRow.revision == revision)
    return session.exec(found.order_by(col(RevisionSimulationRow.id).desc()).limit(1)).first()


def newest_simulations(session: Session, revisions: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Revision → what its last simulation found, of those that have one."""
    last = select(func.max(RevisionSimulationRow.id)).where(col(RevisionSimulationRow.revision).in_(revisions))
    rows = session.exec(
        select(RevisionSimulationRow.revision, RevisionSimulationRow.found).where(
            col(RevisionSimulationRow.id).in_(last.group_by(col(RevisionSimulationRow.revision)))
        )
    )
    return {revision: dict(found) for revision, found in rows}


def comments_of(session: Session, revisions: Sequence[int]) -> dict[int, int]:
    """Revision → how much was said, of those that anything was said about."""
    counted = select(RevisionCommentRow.revision, func.count()).where(col(RevisionCommentRow.revision).in_(revisions))
    return dict(session.exec(counted.group_by(col(RevisionCommentRow.revision))).all())
