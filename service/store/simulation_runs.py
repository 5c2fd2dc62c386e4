"""Runs of simulations as rows, noted while they go on, by a connection that holds a lock as long as the run lives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Engine, text, update
from sqlmodel import Session, col, select

from service.store.revisions import MAX_NUMBER
from service.store.tables import SimulationRunRow

RUNNING, DONE, FAILED, LOST = "running", "done", "failed", "lost"
"""States. Lost is a run whose process ended without a word."""
LOCK_CLASS: Final = 7_301_945
"""Of the advisory locks of runs; any number that nobody else uses."""
_HOLD: Final = text("SELECT pg_advisory_lock(:kind, :number)").bindparams(kind=LOCK_CLASS)
_LOSE: Final = text(
    """
    UPDATE simulation_run SET state = 'lost', ended_at = :now WHERE state = 'running' AND NOT EXISTS (
        SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
        WHERE locktype = 'advisory' AND datname = current_database() AND classid = :kind AND objid = number)
    """
).bindparams(kind=LOCK_CLASS)


@dataclass(frozen=True, slots=True)
class Record:
    """The row of a run that goes on."""

    number: int
    _connection: Connection

    def note(self, reports_done: int) -> None:
        """How many reports are decided."""
        self._set(reports_done=reports_done)

    def end(
        self, state: str, now: datetime, found: Mapping[str, Any] | None = None, why: str | None = None, **counts: int
    ) -> None:
        """How it ended."""
        self._set(state=state, ended_at=now, found=None if found is None else dict(found), why=why, **counts)

    def _set(self, **values: Any) -> None:
        row = col(SimulationRunRow.number) == self.number
        self._connection.execute(update(SimulationRunRow).where(row).values(**values))
        self._connection.commit()


@contextmanager
def recorded(engine: Engine, row: SimulationRunRow) -> Iterator[Record]:
    """A new run. Its lock goes with the connection: a process that is killed gives it up, and who looks next says so."""
    with engine.connect() as connection:
        session = Session(connection)
        session.add(row)
        session.flush()
        number = row.number or 0
        connection.execute(_HOLD, {"number": number})  # before anybody sees the row
        connection.commit()
        try:
            yield Record(number, connection)
        finally:
            connection.invalidate()  # the pool would keep the connection, and with it the lock


def look(session: Session, number: int, now: datetime) -> SimulationRunRow | None:
    """One run as it is now, which is lost where nobody runs it any more."""
    session.execute(_LOSE, {"now": now})
    return session.get(SimulationRunRow, number) if number <= MAX_NUMBER else None


def share_done(row: SimulationRunRow) -> float:
    """The share of the reports that are decided, 0…1."""
    if row.state == DONE or not row.reports_total:
        return 1.0 if row.state == DONE else 0.0
    return row.reports_done / row.reports_total


def newest_of(session: Session, revision: int, now: datetime) -> SimulationRunRow | None:
    """The last run that tried a revision, as it is now."""
    session.execute(_LOSE, {"now": now})
    found = select(SimulationRunRow).where(SimulationRunRow.revision == revision)
    return session.exec(found.order_by(col(SimulationRunRow.number).desc()).limit(1)).first()


def newest_by(session: Session, asked_by: str, now: datetime) -> SimulationRunRow | None:
    """The last run that somebody asked for, as it is now."""
    session.execute(_LOSE, {"now": now})
    found = select(SimulationRunRow).where(SimulationRunRow.asked_by == asked_by)
    return session.exec(found.order_by(col(SimulationRunRow.number).desc()).limit(1)).first()


def forget_before(connection: Connection, moment: datetime) -> int:
    """Drop runs that started before that; returns how many went."""
    return connection.execute(
        text("DELETE FROM simulation_run WHERE started_at < :moment"), {"moment": moment}
    ).rowcount
