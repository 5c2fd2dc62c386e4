"""Rollups: a day's observations merged once by cell and situation, so that nobody reads raw rows to learn.

`heat` is what windows say of the phone at their end: cool, hot, or unknown where they do not. Starts say nothing and are
counted beside cool windows: rows of their own would tell nobody more.

A day is one of receipt, in UTC. Histograms are merged by adding counts, which loses nothing: a quantile of the merged
one has the relative error of its buckets, 1 %, however much went into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, text
from sqlmodel import Session

from policies.cohort_screen import TOO_GOOD_REASON
from policies.observation import NON_FINITE
from policies.screen import CLOCK_FAULTS, GAMMA

HOT_STATUS: Final = 2
"""`THERMAL_STATUS_MODERATE`: from here on the phone throttles."""
SETTLING_DAYS: Final = 3
"""Days for which a window may still follow its start; a start is a crash for good after them."""

_ONE_AT_A_TIME: Final = text("SELECT pg_advisory_xact_lock(7301943)")
"""A worker and somebody's `nnfleet recommend` may roll up at once."""
_KEYS: Final = "device_class, app, model, arm, workload, heat"
LATE: Final = timedelta(minutes=15)
"""How long after midnight a batch of the day may still be committed."""
AGAIN: Final = timedelta(hours=6)
"""How often a day that is over is rolled up until it is settled: only its starts can change, by windows that follow."""

_RECEIVED: Final = text(
    """
    SELECT DISTINCT telemetry_tally.day, rolled_at, settled
    FROM telemetry_tally LEFT JOIN rolled_day ON rolled_day.day = telemetry_tally.day
    WHERE verdict IN ('accepted', 'set-aside') ORDER BY 1
    """
)
_ROLL: Final = text(
    f"""
    WITH seen AS MATERIALIZED (
        SELECT device_class, app, model, arm, coalesce(workload, 'burst') AS workload,
               CASE WHEN thermal_after >= :hot THEN 'hot' WHEN thermal_after < :hot THEN 'cool' ELSE 'unknown' END AS heat,
               run_count, latency_p50_us, histogram_buckets, histogram_counts,
               golden_checks, golden_passed, timeouts, errors, delegated_nodes::float / nullif(total_nodes, 0) AS share,
               partitions, executed_by ~* '(xnnpack|cpu|reference)' AS on_cpu, load_us,
               ln(nullif(golden_max_rel_error, 0)) AS log_error,
               CASE WHEN NOT coalesce(cache_hit, false) THEN compile_us END AS cold_us,
               ln(nullif(memory_peak_kb, 0)::float) AS log_memory, golden_max_rel_error >= :non_finite AS no_number
        FROM observation
        WHERE received_at >= :start AND received_at < :upto AND kind = 'window'
          AND (set_aside IS NULL OR set_aside = ANY(:clock_faults))
    ), counted AS (
        SELECT {_KEYS}, count(*) AS windows,
               count(*) FILTER (WHERE run_count > 0) AS measured,
               coalesce(sum(run_count), 0)::bigint AS runs,
               count(*) FILTER (WHERE golden_checks > 0) AS golden_checked,
               count(*) FILTER (WHERE golden_passed < golden_checks) AS golden_failed,
               count(*) FILTER (WHERE run_count = 0 AND timeouts = 0 AND errors <> '{{}}') AS failed,
               count(*) FILTER (WHERE timeouts > 0) AS timed_out,
               count(share) AS delegated_windows, coalesce(sum(share), 0) AS delegated_share_sum,
               count(*) FILTER (WHERE run_count > 0 AND on_cpu) AS on_cpu,
               count(partitions) AS split_windows, coalesce(sum(partitions), 0)::bigint AS partitions_sum,
               count(log_error) AS error_windows, coalesce(sum(log_error), 0) AS log_error_sum,
               count(load_us) AS loaded, coalesce(sum(load_us), 0)::bigint AS load_us_sum,
               count(cold_us) AS compiled, coalesce(sum(cold_us), 0)::bigint AS compile_us_sum,
               count(log_memory) AS memory_windows, coalesce(sum(log_memory), 0) AS log_memory_sum,
               count(*) FILTER (WHERE no_number) AS non_finite
        FROM seen GROUP BY {_KEYS}
    ), doubted AS (
        SELECT device_class, app, model, arm, coalesce(workload, 'burst') AS workload, 'cool' AS heat, count(*) AS too_good
        FROM observation
        WHERE received_at >= :start AND received_at < :upto AND set_aside = :too_good AND kind = 'window'
        GROUP BY 1, 2, 3, 4, 5
    ), latency AS (
        SELECT {_KEYS}, array_agg(bucket ORDER BY bucket) AS latency_buckets, array_agg(runs ORDER BY bucket) AS latency_counts
        FROM (SELECT {_KEYS}, bucket, sum(number)::bigint AS runs
              FROM seen, unnest(histogram_buckets, histogram_counts) AS held (bucket, number)
              WHERE number > 0 GROUP BY {_KEYS}, bucket) AS merged
        GROUP BY {_KEYS}
    ), median AS (
        SELECT {_KEYS}, array_agg(bucket ORDER BY bucket) AS p50_buckets, array_agg(windows ORDER BY bucket) AS p50_counts
        FROM (SELECT {_KEYS}, round(ln(latency_p50_us * :half_up) / ln(:gamma))::int AS bucket, count(*) AS windows
              FROM seen WHERE run_count > 0 AND latency_p50_us > 0 GROUP BY {_KEYS}, bucket) AS merged
        GROUP BY {_KEYS}
    ), started AS (
        SELECT a.device_class, a.app, a.model, a.arm, coalesce(a.workload, 'burst') AS workload, 'cool' AS heat,
               count(*) AS attempts,
               count(*) FILTER (WHERE w.attempt_id IS NULL AND a.received_at <= :crashed_before) AS crashed
        FROM observation a
        LEFT JOIN (SELECT DISTINCT attempt_id FROM observation
                   WHERE kind = 'window' AND attempt_id IS NOT NULL AND received_at >= :earliest_window) w
               ON w.attempt_id = a.record_id
        WHERE a.received_at >= :start AND a.received_at < :upto AND a.set_aside IS NULL AND a.kind = 'attempt'
        GROUP BY 1, 2, 3, 4, 5
    )
    INSERT INTO observation_rollup
        (day, {_KEYS}, windows, measured, runs, latency_buckets, latency_counts, p50_buckets, p50_counts,
         golden_checked, golden_failed, failed, timed_out, attempts, crashed, delegated_windows, delegated_share_sum,
         on_cpu, split_windows, partitions_sum, error_windows, log_error_sum, loaded, load_us_sum, compiled, compile_us_sum,
         memory_windows, log_memory_sum, non_finite, too_good)
    SELECT :day, {_KEYS}, coalesce(windows, 0), coalesce(measured, 0), coalesce(runs, 0),
           coalesce(latency_buckets, '{{}}'), coalesce(latency_counts, '{{}}'),
           coalesce(p50_buckets, '{{}}'), coalesce(p50_counts, '{{}}'),
           coalesce(golden_checked, 0), coalesce(golden_failed, 0), coalesce(failed, 0), coalesce(timed_out, 0),
           coalesce(attempts, 0), coalesce(crashed, 0), coalesce(delegated_windows, 0), coalesce(delegated_share_sum, 0),
           coalesce(on_cpu, 0), coalesce(split_windows, 0), coalesce(partitions_sum, 0), coalesce(error_windows, 0),
           coalesce(log_error_sum, 0), coalesce(loaded, 0), coalesce(load_us_sum, 0), coalesce(compiled, 0),
           coalesce(compile_us_sum, 0), coalesce(memory_windows, 0), coalesce(log_memory_sum, 0),
           coalesce(non_finite, 0), coalesce(too_good, 0)
    FROM counted FULL JOIN started USING ({_KEYS}) FULL JOIN doubted USING ({_KEYS})
    LEFT JOIN latency USING ({_KEYS}) LEFT JOIN median USING ({_KEYS})
    """  # noqa: S608 -- constants of this file
).bindparams(
    half_up=(GAMMA + 1) / 2, gamma=GAMMA, hot=HOT_STATUS, clock_faults=list(CLOCK_FAULTS), non_finite=NON_FINITE,
    too_good=TOO_GOOD_REASON,
)  # fmt: skip
_NOTE: Final = text(
    """
    INSERT INTO rolled_day (day, rolled_at, observations, settled)
    SELECT :day, :now, coalesce(sum(windows + attempts), 0), :settled FROM observation_rollup WHERE day = :day
    ON CONFLICT (day) DO UPDATE
        SET rolled_at = excluded.rolled_at, observations = excluded.observations, settled = excluded.settled
    RETURNING observations
    """
)
_COUNTS: Final = text(
    f"""
    SELECT {_KEYS}, sum(windows)::bigint AS windows, sum(measured)::bigint AS measured,
           sum(golden_checked)::bigint AS golden_checked, sum(golden_failed)::bigint AS golden_failed,
           sum(failed)::bigint AS failed, sum(timed_out)::bigint AS timed_out,
           sum(attempts)::bigint AS attempts, sum(crashed)::bigint AS crashed,
           sum(delegated_share_sum) / nullif(sum(delegated_windows), 0) AS delegated_share,
           sum(runs)::bigint AS runs, sum(on_cpu)::bigint AS on_cpu,
           (sum(partitions_sum) / nullif(sum(split_windows), 0))::float AS partitions,
           sum(log_error_sum) / nullif(sum(error_windows), 0) AS golden_log_error,
           (sum(load_us_sum) / nullif(sum(loaded), 0))::float AS load_us,
           (sum(compile_us_sum) / nullif(sum(compiled), 0))::float AS compile_us,
           least(1, sum(compiled)::float / nullif(sum(loaded), 0)) AS cold_share,
           sum(log_memory_sum) / nullif(sum(memory_windows), 0) AS log_memory_kb,
           sum(non_finite)::bigint AS non_finite, sum(too_good)::bigint AS too_good
    FROM observation_rollup GROUP BY {_KEYS} ORDER BY {_KEYS}
    """  # noqa: S608
)
_MEDIANS: Final = text(
    f"""
    SELECT {_KEYS}, bucket, sum(number)::bigint
    FROM observation_rollup, unnest(p50_buckets, p50_counts) AS held (bucket, number)
    GROUP BY {_KEYS}, bucket ORDER BY {_KEYS}, bucket
    """  # noqa: S608
)
_COHORTS: Final = text(
    """
    INSERT INTO cohort_median (device_class, app, model, arm, windows, p50_us)
    SELECT device_class, app, model, arm, max(upto), :value * power(:gamma, min(bucket) FILTER (WHERE upto * 2 >= windows))
    FROM (SELECT device_class, app, model, arm, bucket,
                 sum(sum(number)) OVER (PARTITION BY device_class, app, model, arm ORDER BY bucket) AS upto,
                 sum(sum(number)) OVER (PARTITION BY device_class, app, model, arm) AS windows
          FROM observation_rollup, unnest(p50_buckets, p50_counts) AS held (bucket, number)
          GROUP BY 1, 2, 3, 4, 5) AS ranked
    GROUP BY 1, 2, 3, 4
    """
).bindparams(value=2 / (GAMMA + 1), gamma=GAMMA)
_KNOWN: Final = text(
    """
    SELECT device_class, app, model, arm, p50_us FROM cohort_median
    WHERE (device_class, app, model) IN :models AND windows >= :windows
    """
).bindparams(bindparam("models", expanding=True))


def days_due(session: Session, now: datetime) -> list[date]:
    """Days of receipt to roll up now, the oldest first: new ones, today, and now and then those that are not settled."""
    rows = session.connection().execute(_RECEIVED)
    return [day for day, rolled_at, settled in rows if rolled_at is None or (not settled and _due(day, rolled_at, now))]


def _due(day: date, rolled_at: datetime, now: datetime) -> bool:
    over = datetime.combine(day + timedelta(days=1), time(), UTC) + LATE
    return rolled_at < over or now - rolled_at >= AGAIN


def roll(session: Session, day: date, crashed_before: datetime, now: datetime) -> int:
    """Roll up a day anew; returns how many observations went in.

    A start that was received before `crashed_before` and that no window has followed so far counts as a crash.
    """
    start = datetime.combine(day, time(), UTC)
    span = {"start": start, "upto": start + timedelta(days=1), "earliest_window": start - timedelta(days=SETTLING_DAYS)}
    connection = session.connection()
    connection.execute(_ONE_AT_A_TIME)
    connection.execute(text("DELETE FROM observation_rollup WHERE day = :day"), {"day": day})
    connection.execute(_ROLL, span | {"day": day, "crashed_before": crashed_before})
    settled = start + timedelta(days=1 + SETTLING_DAYS) < min(now, crashed_before)
    rolled: int = connection.execute(_NOTE, {"day": day, "now": now, "settled": settled}).scalar_one()
    return rolled


def refresh_cohorts(session: Session) -> int:
    """Take the medians of all cells anew, for the screen; returns how many cells there are."""
    connection = session.connection()
    connection.execute(_ONE_AT_A_TIME)
    connection.execute(text("DELETE FROM cohort_median"))
    return connection.execute(_COHORTS).rowcount


def counts(session: Session) -> Iterator[dict[str, Any]]:
    """Counts over all days, one row for each cell and situation."""
    yield from map(dict, session.connection().execute(_COUNTS).mappings())


def medians(session: Session) -> Iterator[tuple[tuple[Any, ...], int, int]]:
    """(cell and situation, bucket, windows whose median lies in it), ordered."""
    for *key, bucket, windows in session.connection().execute(_MEDIANS):
        yield tuple(key), bucket, windows


def medians_us(
    session: Session, models: Iterable[tuple[str, str, str]], least_windows: int
) -> dict[tuple[str, str, str], dict[str, float]]:
    """(device class, app, model) → arm → median in µs, of arms with so many windows."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    rows = session.connection().execute(_KNOWN, {"models": list(models), "windows": least_windows})
    for device_class, app, model, arm, p50_us in rows:
        found.setdefault((device_class, app, model), {})[arm] = p50_us
    return found
