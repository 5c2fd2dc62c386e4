"""Rollouts as rows, and what telemetry shows of one: windows and starts of both sides, stratum by stratum."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import Session, col, select

from policies.errors import RolloutActive, UnknownRollout
from policies.rollouts.readings import Seen, Stratum
from policies.rollouts.rollout import ACTIVE, OPEN, State
from policies.rollouts.sequential import Levels
from policies.screen import CLOCK_FAULTS
from service.store.revisions import MAX_NUMBER
from service.store.tables import RolloutRow

# A batch is what one phone sends at once. Its windows are alike, so that it counts once, with their mean, and once with
# its starts: what one phone repeats is no further evidence.
_WINDOWS: Final = text(
    """
    WITH batch AS (
        SELECT device_class, app, model, coalesce(workload, 'burst') AS workload, release, side,
               bool_or(run_count = 0 AND (timeouts > 0 OR errors <> '{}')) AS failed,
               bool_or(golden_passed < golden_checks) AS wrong,
               avg(ln(latency_p90_us)) FILTER (WHERE run_count > 0 AND latency_p90_us > 0) AS log_p90,
               avg(ln(memory_peak_kb)) FILTER (WHERE memory_peak_kb > 0) AS log_memory
        FROM observation
        WHERE received_at >= :since AND release = ANY(:releases) AND kind = 'window'
          AND (set_aside IS NULL OR set_aside = ANY(:clock_faults)) AND (side IS NULL OR side = 'candidate')
        GROUP BY 1, 2, 3, 4, 5, 6, report_id, received_at
    )
    SELECT device_class, app, model, workload, release, side, count(*) AS windows,
           count(*) FILTER (WHERE failed) AS failed, count(*) FILTER (WHERE wrong) AS wrong,
           count(log_p90) AS p90_n, coalesce(sum(log_p90), 0) AS p90_total, coalesce(sum(log_p90 ^ 2), 0) AS p90_squares,
           count(log_memory) AS memory_n, coalesce(sum(log_memory), 0) AS memory_total,
           coalesce(sum(log_memory ^ 2), 0) AS memory_squares
    FROM batch GROUP BY 1, 2, 3, 4, 5, 6
    """
).bindparams(clock_faults=list(CLOCK_FAULTS))
_STARTS: Final = text(
    """
    WITH batch AS (
        SELECT a.device_class, a.app, a.model, coalesce(a.workload, 'burst') AS workload, a.release, a.side,
               bool_or(w.attempt_id IS NULL AND a.received_at <= :crashed_before) AS crashed
        FROM observation a
        LEFT JOIN (SELECT DISTINCT attempt_id FROM observation
                   WHERE kind = 'window' AND attempt_id IS NOT NULL AND received_at >= :since) w
               ON w.attempt_id = a.record_id
        WHERE a.received_at >= :since AND a.release = ANY(:releases) AND a.set_aside IS NULL AND a.kind = 'attempt'
          AND (a.side IS NULL OR a.side = 'candidate')
        GROUP BY 1, 2, 3, 4, 5, 6, a.report_id, a.received_at
    )
    SELECT device_class, app, model, workload, release, side, count(*) FILTER (WHERE crashed) AS crashed
    FROM batch GROUP BY 1, 2, 3, 4, 5, 6
    """
)
_SOCS: Final = text("SELECT DISTINCT coalesce(soc, 'unknown') FROM class_facts ORDER BY 1")
_SOC_OF: Final = text(
    "SELECT device_class, coalesce(soc, 'unknown') AS soc FROM class_facts WHERE device_class = ANY(:classes)"
)
_RELEASES: Final = text("SELECT number FROM release WHERE rollout = :rollout ORDER BY number")


def active(session: Session, *, lock: bool = False) -> RolloutRow | None:
    """The rollout that runs or is paused; there is at most one."""
    found = select(RolloutRow).where(col(RolloutRow.state).in_(list(ACTIVE)))
    return session.exec(found.with_for_update() if lock else found).first()


def ahead(session: Session) -> RolloutRow | None:
    """The rollout that is scheduled, runs or is paused; there is at most one."""
    return session.exec(select(RolloutRow).where(col(RolloutRow.state).in_(list(OPEN)))).first()


def due(session: Session, now: datetime, *, lock: bool = False) -> RolloutRow | None:
    """The scheduled rollout whose time has come."""
    found = select(RolloutRow).where(RolloutRow.state == State.SCHEDULED, col(RolloutRow.starts_at) <= now)
    return session.exec(found.with_for_update() if lock else found).first()


def refuse_where_one_is_ahead(session: Session) -> None:
    """Raise RolloutActive where a rollout goes on or is scheduled."""
    refuse_where_one_is_active(session)
    row = ahead(session)
    if row is not None:
        raise RolloutActive(f"rollout {row.number} is scheduled: abort it, or let it come first", field="rollout")


def refuse_where_one_is_active(session: Session) -> None:
    """Raise RolloutActive where a rollout holds what devices see."""
    row = active(session)
    if row is not None:
        raise RolloutActive(
            f"rollout {row.number} is {row.state}: let it end, or abort it. A release holds one candidate, so that there is "
            "one rollout at a time, for all apps",
            field="rollout",
        )


def rollout(session: Session, number: int) -> RolloutRow:
    """One rollout; raises UnknownRollout."""
    row = session.get(RolloutRow, number) if number <= MAX_NUMBER else None
    if row is None:
        raise UnknownRollout(f"there is no rollout {number}", field="rollout")
    return row


def newest(session: Session, limit: int) -> list[RolloutRow]:
    """The newest rollouts, the newest first."""
    return list(session.exec(select(RolloutRow).order_by(col(RolloutRow.number).desc()).limit(limit)))


def socs(session: Session) -> list[str]:
    """Every SoC that was ever seen."""
    return list(session.connection().execute(_SOCS).scalars())


def strata(session: Session, row: RolloutRow, crashed_before: datetime) -> list[Stratum]:
    """What telemetry shows since the rollout began. A start without a window counts once it is older than that."""
    connection = session.connection()
    releases = list(connection.execute(_RELEASES, {"rollout": row.number}).scalars())
    asked = {"since": row.started_at, "releases": releases}
    parts: dict[tuple[Any, ...], dict[str | None, dict[str, Any]]] = {}
    _merge(parts, connection.execute(_WINDOWS, asked).mappings())
    _merge(parts, connection.execute(_STARTS, asked | {"crashed_before": crashed_before}).mappings())
    classes = sorted({key[0] for key in parts})
    soc_of = {found.device_class: found.soc for found in connection.execute(_SOC_OF, {"classes": classes})}
    return [
        Stratum(
            soc_of.get(key[0], "unknown"), f"{key[1]}.{key[2]}", key[4], _seen(of.get("candidate")), _seen(of.get(None))
        )
        for key, of in parts.items()
    ]


def _merge(parts: dict[tuple[Any, ...], dict[str | None, dict[str, Any]]], rows: Iterable[Any]) -> None:
    for found in rows:
        columns = dict(found)
        key = tuple(columns.pop(name) for name in ("device_class", "app", "model", "workload", "release"))
        parts.setdefault(key, {}).setdefault(columns.pop("side"), {}).update(columns)


def _seen(columns: dict[str, Any] | None) -> Seen:
    if columns is None:
        return Seen()
    count = {name: int(columns.get(name, 0)) for name in ("windows", "failed", "wrong", "crashed")}
    # A phone sends the mark of a start only where no window came of it: the other starts are known by their windows.
    starts = count["windows"] + count["crashed"]
    return Seen(**count, starts=starts, log_p90=_levels(columns, "p90"), log_memory=_levels(columns, "memory"))


def _levels(columns: dict[str, Any], name: str) -> Levels:
    n, total, squares = (columns.get(f"{name}_{part}", 0) for part in ("n", "total", "squares"))
    return Levels(int(n), float(total), float(squares))
