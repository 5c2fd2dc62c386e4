"""Runs of jobs, as rows: what ran when, how far it is, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Session, col, select

from service.store.tables import JobRunRow

RUNNING, DONE, FAILED, LOST = "running", "done", "failed", "lost"
"""States. Lost is a run whose process ended without a word."""
MOST_LINES: Final = 1_000
MAX_ID: Final = 2**63 - 1
"""What the column holds: a larger number names nothing."""

_START: Final = text(
    """
    INSERT INTO job_run (job, state, started_at, progress, figures, log)
    VALUES (:job, 'running', :now, 0, '{}', '{}') RETURNING id
    """
)
_NOTE: Final = text(
    """
    UPDATE job_run SET progress = :progress,
           log = CASE WHEN cardinality(log) < :most THEN array_append(log, :line) ELSE log END
    WHERE id = :run
    """
).bindparams(most=MOST_LINES)
_END: Final = text(
    """
    UPDATE job_run SET state = CAST(:state AS text), ended_at = :now, figures = :figures,
           progress = CASE WHEN CAST(:state AS text) = 'done' THEN 1 ELSE progress END,
           log = CASE WHEN CAST(:line AS text) IS NULL THEN log ELSE array_append(log, :line) END
    WHERE id = :run
    """
).bindparams(bindparam("figures", type_=JSONB))
_LOSE: Final = text("UPDATE job_run SET state = 'lost', ended_at = :now WHERE job = :job AND state = 'running'")
_LOCK: Final = text("SELECT pg_try_advisory_lock(7301944, hashtext(:job))")


def take_turn(connection: Connection, job: str) -> bool:
    """Whether this connection is the only one that runs the job, from now until it closes."""
    taken: bool = connection.execute(_LOCK, {"job": job}).scalar_one()
    return taken


def start(connection: Connection, job: str, now: datetime) -> int:
    """Note a run that starts; earlier ones that never ended are lost. The caller has the job's turn."""
    connection.execute(_LOSE, {"job": job, "now": now})
    run: int = connection.execute(_START, {"job": job, "now": now}).scalar_one()
    return run


def note(connection: Connection, run: int, progress: float, line: str) -> None:
    """Note how far a run is and what it did."""
    connection.execute(_NOTE, {"run": run, "progress": progress, "line": line})


def end(
    connection: Connection, run: int, state: str, now: datetime, figures: Mapping[str, Any], line: str | None = None
) -> None:
    """Note how a run ended."""
    connection.execute(_END, {"run": run, "state": state, "now": now, "figures": dict(figures), "line": line})


def newest(session: Session, limit: int) -> list[JobRunRow]:
    """The runs that started last, the newest first."""
    return list(session.exec(select(JobRunRow).order_by(col(JobRunRow.id).desc()).limit(limit)))


def run(session: Session, number: int) -> JobRunRow | None:
    """One run."""
    return session.get(JobRunRow, number) if number <= MAX_ID else None


def forget_before(connection: Connection, moment: datetime) -> int:
    """Drop runs that started before that; returns how many went."""
    return connection.execute(text("DELETE FROM job_run WHERE started_at < :moment"), {"moment": moment}).rowcount
