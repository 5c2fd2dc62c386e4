"""Observations: stored once by record id, however often and in whatever order they are sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, func, select

from service.store import tables
from service.store.tables import ObservationRow

_OBSERVATION: Final = tables.metadata.tables["observation"]


def insert_new(session: Session, rows: Sequence[dict[str, Any]]) -> set[UUID]:
    """Insert the rows whose record id is new; returns the ids that were inserted.

    The unique key decides, inside this transaction: a retry, also one that runs at the same time, cannot double.
    """
    if not rows:
        return set()
    # In one order everywhere, so that two batches that share records wait for each other instead of deadlocking.
    ordered = sorted(rows, key=lambda row: row["record_id"])
    statement = insert(_OBSERVATION).on_conflict_do_nothing(index_elements=["record_id"])
    # Past the ORM, which would make an object of every row only to forget it.
    return set(session.connection().execute(statement.returning(_OBSERVATION.c.record_id), ordered).scalars())


def payload_digests(session: Session, record_ids: set[UUID]) -> dict[UUID, bytes]:
    """The digests of what is stored under these ids: the same id with another body is a conflict."""
    if not record_ids:
        return {}
    rows = session.exec(
        select(ObservationRow.record_id, ObservationRow.payload_sha256).where(
            col(ObservationRow.record_id).in_(record_ids)
        )
    )
    return dict(rows.all())


def count_by_reason(session: Session) -> dict[str, int]:
    """Stored records by the reason they were set aside; "" for those that learning may use."""
    rows = session.exec(select(ObservationRow.set_aside, func.count()).group_by(col(ObservationRow.set_aside)))
    return {reason or "": count for reason, count in rows}


def stored_ids(session: Session, record_ids: Sequence[UUID]) -> set[UUID]:
    """Which of these records are in the database."""
    return set(session.exec(select(ObservationRow.record_id).where(col(ObservationRow.record_id).in_(record_ids))))
