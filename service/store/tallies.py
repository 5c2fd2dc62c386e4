"""Tallies: what became of records, counted in the transaction that judged them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Final

from sqlalchemy import insert, text
from sqlmodel import Session

from service.store import tables

NOTED: Final = "noted"
"""No verdict: what is odd about records that were stored all the same, counted beside their verdicts."""
_TALLY: Final = tables.metadata.tables["telemetry_tally"]
_ADD: Final = insert(_TALLY)
# Rows are only ever added by batches, so that batches never wait for each other; folding takes away what it has added up.
_FOLD: Final = text(
    """
    WITH gone AS (DELETE FROM telemetry_tally RETURNING day, verdict, reason, records)
    INSERT INTO telemetry_tally (day, verdict, reason, records)
    SELECT day, verdict, reason, sum(records)::bigint FROM gone GROUP BY 1, 2, 3
    """
)
_TOTALS: Final = text(
    "SELECT verdict, reason, sum(records)::bigint FROM telemetry_tally WHERE day >= :since GROUP BY 1, 2 ORDER BY 3 DESC"
)
_BY_DAY: Final = text(
    "SELECT day, verdict, sum(records)::bigint FROM telemetry_tally WHERE day >= :since AND verdict <> :noted"
    " GROUP BY 1, 2 ORDER BY 1 DESC"
).bindparams(noted=NOTED)


def add(session: Session, received_at: datetime, counted: Mapping[tuple[str, str], int]) -> None:
    """Count the verdicts of a batch under the UTC day of its receipt."""
    day = received_at.astimezone(UTC).date()
    rows: list[dict[str, Any]] = [
        {"day": day, "verdict": verdict, "reason": reason, "records": records}
        for (verdict, reason), records in counted.items()
    ]
    if rows:
        session.connection().execute(_ADD, rows)


def fold(session: Session) -> int:
    """One row a day, verdict and reason again; returns how many rows there are now."""
    return session.connection().execute(_FOLD).rowcount


def totals(session: Session, since: date = date.min) -> dict[tuple[str, str], int]:
    """(verdict, reason) → records received from `since` on, the most first."""
    rows = session.connection().execute(_TOTALS, {"since": since})
    return {(verdict, reason): int(records) for verdict, reason, records in rows}


def by_day(session: Session, since: date) -> dict[date, dict[str, int]]:
    """UTC day → verdict → records received from `since` on, the newest day first; days without records are left out."""
    found: dict[date, dict[str, int]] = {}
    for day, verdict, records in session.connection().execute(_BY_DAY, {"since": since}):
        found.setdefault(day, {})[verdict] = int(records)
    return found
