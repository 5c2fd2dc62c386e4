"""Observations: stored once by record id, however often and in whatever order they are sent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from operator import itemgetter
from typing import Any, Final, cast
from uuid import UUID

import psycopg
from psycopg.errors import UniqueViolation
from psycopg.sql import SQL, Identifier
from sqlalchemy import ARRAY, Date, DateTime, Uuid, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Session, col, select

from service.store import tables
from service.store.partitions import day_of
from service.store.tables import ObservationRow

# A row's values come in PostgreSQL's binary form (`service.store.binary`) where psycopg would make it slowly: it passes
# them on as bytes. It packs the others, and would wrap an integer that is too large in silence: policies.observation
# bounds each of them.
_PACKED: Final = (Uuid, JSONB, ARRAY, Date, DateTime)
_DIALECT: Final = postgresql.dialect()  # type: ignore[no-untyped-call]
_TYPES: Final = {
    column.name: "bytea"
    if isinstance(column.type, _PACKED)
    else column.type.compile(dialect=_DIALECT).lower().replace("float", "float8")
    for column in tables.metadata.tables["observation"].columns
}
# One table a connection, empty again after every transaction.
_STAGE: Final = text("CREATE TEMPORARY TABLE IF NOT EXISTS staged_observation (LIKE observation) ON COMMIT DELETE ROWS")
_LIST: Final = ", ".join(f'"{name}"' for name in _TYPES)
_MERGE: Final = text(
    f"INSERT INTO observation ({_LIST}) SELECT {_LIST} FROM staged_observation ORDER BY record_id"  # noqa: S608
    " ON CONFLICT (record_id, day) DO NOTHING RETURNING record_id"
)


def insert_new(session: Session, rows: Iterable[dict[str, Any]]) -> set[bytes]:
    """Insert the rows whose record id is new; returns the ids that were inserted. All rows name columns in one order.

    The unique key decides, inside this transaction: a retry, also one that runs at the same time, cannot double.
    Nearly all batches are new from end to end and go straight in; one that is not starts over by way of a staging table.
    Raises psycopg.Error where the database refuses or is away.
    """
    # In one order everywhere, so that two batches that share records wait for each other instead of deadlocking.
    ordered = sorted(rows, key=itemgetter("record_id"))
    if not ordered:
        return set()
    connection = session.connection()
    raw: psycopg.Connection[Any] = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
    try:
        # SQLAlchemy's savepoint, never psycopg's: on a connection that has not spoken yet, that would commit by itself.
        with connection.begin_nested():
            _copy(raw, "observation", ordered)
    except UniqueViolation:
        connection.execute(_STAGE)
        _copy(raw, "staged_observation", ordered)
        return {record_id.bytes for record_id in connection.execute(_MERGE).scalars()}
    return {row["record_id"] for row in ordered}


def _copy(raw: psycopg.Connection[Any], table: str, rows: Sequence[dict[str, Any]]) -> None:
    names = SQL(", ").join(map(Identifier, rows[0]))
    command = SQL("COPY {table} ({names}) FROM STDIN (FORMAT BINARY)").format(table=Identifier(table), names=names)
    with raw.cursor() as cursor, cursor.copy(command) as copy:
        copy.set_types([_TYPES[name] for name in rows[0]])
        for row in rows:
            copy.write_row(tuple(row.values()))


def payload_digests(session: Session, keys: Collection[bytes]) -> dict[bytes, bytes]:
    """The digests of what is stored under these ids: the same id with another body is a conflict."""
    if not keys:
        return {}
    record_ids = [UUID(bytes=key) for key in keys]
    rows = session.exec(
        select(ObservationRow.record_id, ObservationRow.payload_sha256).where(
            col(ObservationRow.record_id).in_(record_ids),
            col(ObservationRow.day).in_({day_of(record_id) for record_id in record_ids}),
        )
    )
    return {record_id.bytes: digest for record_id, digest in rows}


def stored_ids(session: Session, record_ids: Sequence[UUID]) -> set[UUID]:
    """Which of these records are in the database."""
    return set(session.exec(select(ObservationRow.record_id).where(col(ObservationRow.record_id).in_(record_ids))))
