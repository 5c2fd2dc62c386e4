"""Observations: stored once by record id, however often and in whatever order they are sent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, cast
from uuid import UUID

import psycopg
from psycopg.errors import UniqueViolation
from psycopg.sql import SQL, Identifier
from sqlalchemy import text
from sqlalchemy.dialects import postgresql
from sqlmodel import Session, col, select

from service.store import tables
from service.store.partitions import day_of
from service.store.tables import ObservationRow

_OBSERVATION: Final = tables.metadata.tables["observation"]
COLUMNS: Final = tuple(_OBSERVATION.columns.keys())
_DIALECT: Final = postgresql.dialect()  # type: ignore[no-untyped-call]
# What binary COPY is told. It wraps an integer that is too large, in silence: policies.observation bounds each of them.
TYPES: Final = tuple(
    column.type.compile(dialect=_DIALECT).lower().replace("float", "float8") for column in _OBSERVATION.columns
)
_LIST: Final = ", ".join(f'"{name}"' for name in COLUMNS)
# One table a connection, empty again after every transaction.
_STAGE: Final = text("CREATE TEMPORARY TABLE IF NOT EXISTS staged_observation (LIKE observation) ON COMMIT DELETE ROWS")
_MERGE: Final = text(
    f"INSERT INTO observation ({_LIST}) SELECT {_LIST} FROM staged_observation ORDER BY record_id"  # noqa: S608
    " ON CONFLICT (record_id, day) DO NOTHING RETURNING record_id"
)


def copy_command(table: str) -> Any:
    """COPY into a table with the columns of `observation`, in binary."""
    names = SQL(", ").join(map(Identifier, COLUMNS))
    return SQL("COPY {table} ({names}) FROM STDIN (FORMAT BINARY)").format(table=Identifier(table), names=names)


_COPY: Final = copy_command("observation")
_COPY_STAGED: Final = copy_command("staged_observation")


def insert_new(session: Session, rows: Iterable[dict[str, Any]]) -> set[UUID]:
    """Insert the rows whose record id is new; returns the ids that were inserted.

    The unique key decides, inside this transaction: a retry, also one that runs at the same time, cannot double.
    Nearly all batches are new from end to end and go straight in; one that is not starts over by way of a staging table.
    Raises psycopg.Error where the database refuses or is away.
    """
    # In one order everywhere, so that two batches that share records wait for each other instead of deadlocking.
    ordered = sorted(rows, key=lambda row: row["record_id"])
    if not ordered:
        return set()
    connection = session.connection()
    raw: psycopg.Connection[Any] = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
    try:
        with raw.transaction():
            copy_rows(raw, _COPY, ordered)
    except UniqueViolation:
        connection.execute(_STAGE)
        copy_rows(raw, _COPY_STAGED, ordered)
        return set(connection.execute(_MERGE).scalars())
    return {row["record_id"] for row in ordered}


def copy_rows(raw: psycopg.Connection[Any], command: Any, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows by a `copy_command`."""
    with raw.cursor() as cursor, cursor.copy(command) as copy:
        copy.set_types(TYPES)
        for row in rows:
            copy.write_row([row[name] for name in COLUMNS])


def payload_digests(session: Session, record_ids: Collection[UUID]) -> dict[UUID, bytes]:
    """The digests of what is stored under these ids: the same id with another body is a conflict."""
    if not record_ids:
        return {}
    rows = session.exec(
        select(ObservationRow.record_id, ObservationRow.payload_sha256).where(
            col(ObservationRow.record_id).in_(record_ids),
            col(ObservationRow.day).in_({day_of(record_id) for record_id in record_ids}),
        )
    )
    return dict(rows.all())


def stored_ids(session: Session, record_ids: Sequence[UUID]) -> set[UUID]:
    """Which of these records are in the database."""
    return set(session.exec(select(ObservationRow.record_id).where(col(ObservationRow.record_id).in_(record_ids))))
