"""Observations: stored once by record id, however often and in whatever order they are sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast
from uuid import UUID

import psycopg
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb
from sqlalchemy import text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Session, col, func, select

from service.store import tables
from service.store.tables import ObservationRow

_OBSERVATION: Final = tables.metadata.tables["observation"]
_NAMES: Final = tuple(_OBSERVATION.columns.keys())
_JSON: Final = frozenset(column.name for column in _OBSERVATION.columns if isinstance(column.type, JSONB))
_LIST: Final = ", ".join(f'"{name}"' for name in _NAMES)
# One table a connection, empty again after every transaction.
_STAGE: Final = text("CREATE TEMPORARY TABLE IF NOT EXISTS staged_observation (LIKE observation) ON COMMIT DELETE ROWS")
_COPY: Final = SQL("COPY staged_observation ({names}) FROM STDIN").format(names=SQL(", ").join(map(Identifier, _NAMES)))
# In one order everywhere, so that two batches that share records wait for each other instead of deadlocking.
_MERGE: Final = text(
    f"INSERT INTO observation ({_LIST}) SELECT {_LIST} FROM staged_observation ORDER BY record_id"  # noqa: S608
    " ON CONFLICT (record_id) DO NOTHING RETURNING record_id"
)


def insert_new(session: Session, rows: Sequence[dict[str, Any]]) -> set[UUID]:
    """Insert the rows whose record id is new; returns the ids that were inserted.

    The unique key decides, inside this transaction: a retry, also one that runs at the same time, cannot double.
    Raises psycopg.Error where the database refuses or is away.
    """
    if not rows:
        return set()
    connection = session.connection()
    connection.execute(_STAGE)
    raw: psycopg.Connection[Any] = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
    # As text: binary COPY would wrap an integer that is too large for its column, in silence.
    with raw.cursor() as cursor, cursor.copy(_COPY) as copy:
        for row in rows:
            copy.write_row([_stored(name, row[name]) for name in _NAMES])
    return set(connection.execute(_MERGE).scalars())


def _stored(name: str, value: Any) -> Any:
    return Jsonb(value) if value is not None and name in _JSON else value


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
