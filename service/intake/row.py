"""An observation as a flat row of its table."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, datetime
from typing import Any, Final

import msgspec

from policies.observation import Condition, Conditions, Executed, Golden, Init, Observation, Requested
from policies.rollouts.staging import parted
from policies.screen import CLOCK_FAULTS, clock_skew_s, quantile_us
from service.store import binary
from service.store.partitions import day_of


class Record(msgspec.Struct, frozen=True, gc=False):
    """A record that could be read: its place in the batch, its id's sixteen bytes, its own bytes and their digest."""

    index: int
    key: bytes
    observation: Observation
    raw: bytes
    digest: bytes


class Timing(msgspec.Struct, frozen=True, gc=False):
    """Latencies of a window as they are stored."""

    p50_us: float
    p90_us: float
    buckets: list[int]
    counts: list[int]


def timing(observation: Observation) -> Timing | None:
    """The timing of a window, None where nothing ran. Its histogram has to be a possible one."""
    runs = observation.runs
    if runs is None or runs.latency_us is None or runs.count == 0:
        return None
    counts = runs.latency_us.histogram.counts
    buckets = sorted(counts)
    return Timing(quantile_us(counts, 0.5), quantile_us(counts, 0.9), buckets, [counts[bucket] for bucket in buckets])


_NO_REQUESTED: Final = Requested(delegate="")
_NO_EXECUTED: Final = Executed(by="")
_NO_INIT: Final = Init()
_NO_GOLDEN: Final = Golden(checks=0, passed=0)
_NO_CONDITION: Final = Condition()


def flat_row(
    record: Record, device_class: str, reason: str | None, measured: Timing | None, received_at: datetime
) -> dict[str, Any]:
    """Columns of `observation` by name, in one order, as `service.store.telemetry` copies them.

    `reason` is None for a plausible record; `measured` is its timing then.
    """
    seen = record.observation
    requested = seen.requested or _NO_REQUESTED
    executed = seen.executed or _NO_EXECUTED
    init = (seen.init if reason not in CLOCK_FAULTS else None) or _NO_INIT
    golden = seen.golden
    arm, side = parted(seen.arm)
    after = (seen.conditions and seen.conditions.after) or _NO_CONDITION
    return {
        "record_id": record.key,
        "day": binary.day(day_of(seen.record_id)),
        "payload_sha256": record.digest,
        "received_at": binary.timestamptz(received_at),
        "set_aside": reason,
        "set_aside_payload": record.raw if reason else None,
        "report_id": seen.report_id,
        "device_class": device_class,
        "app": seen.app,
        "release": seen.release,
        "model": seen.model,
        "arm": arm,
        "side": side,
        "kind": seen.kind,
        "plan": seen.plan,
        "propensity": seen.propensity,
        "workload": seen.workload,
        "requested_delegate": requested.delegate if seen.requested else None,
        "requested_accelerator": requested.accelerator,
        "executed_by": executed.by if seen.executed else None,
        "delegated_nodes": executed.delegated_nodes,
        "total_nodes": executed.total_nodes,
        "partitions": executed.partitions,
        "load_us": init.load_us,
        # To compile takes no time only where a cache has what was compiled: else nobody timed it.
        "compile_us": init.compile_us or (init.compile_us if init.cache_hit else None),
        "cache_hit": init.cache_hit,
        "first_run_us": init.first_run_us,
        "conditions": _json(seen.conditions),
        "thermal_after": after.thermal_status,
        "golden_checks": golden.checks if golden else None,
        "golden_passed": golden.passed if golden else None,
        "golden_max_rel_error": golden.max_rel_error if golden else None,
        "attempt_id": seen.attempt_id.bytes if seen.attempt_id else None,
        "memory_peak_kb": seen.memory_peak_kb,
        "device_time": _storable(seen.device_time),
        "monotonic_ms": seen.monotonic_ms,
        "clock_skew_s": clock_skew_s(seen, received_at),
        "sdk": seen.sdk,
        "app_version": seen.app_version,
        **_runs(seen, reason, measured if reason is None else None),
    }


def _runs(seen: Observation, reason: str | None, measured: Timing | None) -> dict[str, Any]:
    """Columns of the runs; no latencies of a record set aside, whose numbers may not even fit the columns.

    Where only the clock is not believed, the runs that it timed are none of those that count as measured.
    """
    runs = seen.runs
    untimed = runs is not None and runs.count > 0 and reason in CLOCK_FAULTS
    latency = runs.latency_us if runs and measured else None
    return {
        "run_count": runs.count if runs and not untimed else None,
        "errors": _json(runs.errors) if runs else None,
        "timeouts": runs.timeouts if runs else None,
        "fallbacks": runs.fallbacks if runs else None,
        "latency_min_us": latency.min if latency else None,
        "latency_max_us": latency.max if latency else None,
        "latency_sum_us": latency.sum if latency else None,
        "latency_p50_us": measured.p50_us if measured else None,
        "latency_p90_us": measured.p90_us if measured else None,
        "histogram_buckets": binary.int4_array(measured.buckets) if measured else None,
        "histogram_counts": binary.int4_array(measured.counts) if measured else None,
    }


def _json(value: dict[str, int] | Conditions | None) -> bytes | None:
    return None if value is None else binary.jsonb(msgspec.json.encode(value))


def _storable(moment: datetime | None) -> bytes | None:
    """The time, unless another zone could put it outside the years that dates have: it could never be read back."""
    return binary.timestamptz(moment) if moment is not None and MINYEAR < moment.year < MAXYEAR else None
