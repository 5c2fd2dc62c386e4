"""Observations in the database → rollups by device class, app, model, arm, workload and temperature."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import Session

from ml.rollup import Cell, Rollup

HOT_STATUS: Final = 2
"""`THERMAL_STATUS_MODERATE`: from here on the phone throttles."""

_WINDOWS: Final = text(
    """
    SELECT device_class, app, model, arm, coalesce(workload, 'burst') AS workload,
           coalesce(thermal_after, 0) >= :hot AS hot,
           count(*) AS windows,
           count(*) FILTER (WHERE run_count > 0) AS measured,
           coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY ln(latency_p50_us))
                    FILTER (WHERE run_count > 0 AND latency_p50_us > 0), 0) AS log_p50_us,
           count(*) FILTER (WHERE golden_checks > 0) AS golden_checked,
           count(*) FILTER (WHERE golden_passed < golden_checks) AS golden_failed,
           count(*) FILTER (WHERE run_count = 0 AND timeouts = 0 AND errors <> '{}') AS failed,
           count(*) FILTER (WHERE timeouts > 0) AS timed_out,
           avg(delegated_nodes::float / nullif(total_nodes, 0)) AS delegated_share
    FROM observation
    WHERE set_aside IS NULL AND kind = 'window'
    GROUP BY 1, 2, 3, 4, 5, 6
    """
)
_ATTEMPTS: Final = text(
    """
    SELECT a.device_class, a.app, a.model, a.arm, coalesce(a.workload, 'burst') AS workload,
           count(*) AS attempts,
           count(*) FILTER (WHERE w.record_id IS NULL AND a.received_at <= :before) AS crashed
    FROM observation a
    LEFT JOIN observation w ON w.attempt_id = a.record_id AND w.kind = 'window'
    WHERE a.set_aside IS NULL AND a.kind = 'attempt'
    GROUP BY 1, 2, 3, 4, 5
    """
)


def rollups(session: Session, crashed_before: datetime) -> list[Rollup]:
    """All rollups. A start that was received before `crashed_before` and has no window yet counts as a crash."""
    found: dict[tuple[Cell, str, bool], dict[str, Any]] = {}
    _merge(found, session.execute(_WINDOWS, {"hot": HOT_STATUS}).mappings())
    _merge(found, session.execute(_ATTEMPTS, {"before": crashed_before}).mappings())
    return [Rollup(cell, workload, hot, **columns) for (cell, workload, hot), columns in sorted(found.items())]


def _merge(found: dict[tuple[Cell, str, bool], dict[str, Any]], rows: Iterable[Any]) -> None:
    for row in rows:
        columns = dict(row)
        cell = Cell(*(columns.pop(name) for name in ("device_class", "app", "model", "arm")))
        found.setdefault((cell, columns.pop("workload"), columns.pop("hot", False)), {}).update(columns)
