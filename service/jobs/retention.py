"""Partitions made ahead and dropped when they are old; what is kept of them are rollups and tallies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import Engine

from service.jobs.run import Steps
from service.store import job_runs, partitions, simulation_runs

KEEP_RUNS: Final = timedelta(days=30)
KEEP_SIMULATIONS: Final = timedelta(days=7)


def retain(engine: Engine, now: datetime, retention_days: int) -> Steps:
    """Make partitions for a week, then drop observations that were received over `retention_days` ago."""
    today = now.astimezone(UTC).date()
    keep_from = now - timedelta(days=retention_days)
    with engine.begin() as connection:
        made = partitions.make_ahead(connection, today, keep_from.date())
    yield 0.5, f"{len(made)} partitions made"
    with engine.begin() as connection:
        dropped, rows = partitions.drop_before(connection, keep_from)
        runs = job_runs.forget_before(connection, now - KEEP_RUNS)
        runs += simulation_runs.forget_before(connection, now - KEEP_SIMULATIONS)
    yield 1.0, f"{len(dropped)} partitions and {rows:,} single rows dropped"
    return {"made": len(made), "dropped": len(dropped), "rows_dropped": rows, "runs_forgotten": runs}
