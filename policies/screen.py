"""Observation → accepted, or set aside with a reason: stored and counted, never learned from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from policies.observation import Init, Latency, Observation

GAMMA: Final = 1.02
MIN_PLAUSIBLE_US: Final = 5
"""No phone starts and ends an inference in under five microseconds: a clock in the wrong unit."""
MAX_PLAUSIBLE_US: Final = 600_000_000
"""Ten minutes: a hang is reported as a timeout, not as a latency."""
CLOCK_FAULTS: Final = ("negative-latency", "negative-duration")
"""Reasons that are about the phone's clock alone: what the record says of errors and golden checks counts all the same."""
MOST_AHEAD_S: Final = 300.0
MOST_BEHIND_S: Final = 86_400.0
"""A clock that is further off is noted. Reports wait for a network, so behind is borne longer than ahead."""


def screen(observation: Observation, *, learnable: bool, newest_release: int) -> str | None:
    """The reason to set the record aside, or None. Reasons are stable codes.

    `learnable` is False for emulators, custom ROMs and reports that contradict themselves. A release is known up to the
    newest; 0 is the default that an app bundles. A skewed clock alone never sets a record aside: windows and retention
    go by the time of receipt.
    """
    if not learnable:
        return "population-not-learnable"
    if observation.release > newest_release:
        return "unknown-release"
    return next(_reasons(observation), None)


def _reasons(observation: Observation) -> Iterator[str]:
    runs = observation.runs
    yield from _init_reasons(observation.init)
    if observation.kind == "window" and runs is None:
        yield "window-without-runs"
    if observation.golden is not None and observation.golden.passed > observation.golden.checks:
        yield "golden-impossible"
    if observation.executed is not None:
        delegated, total = observation.executed.delegated_nodes, observation.executed.total_nodes
        if delegated is not None and total is not None and delegated > total:
            yield "delegated-impossible"
    if runs is not None:
        if runs.count > 0 and runs.latency_us is None:
            yield "runs-without-latency"
        if runs.latency_us is not None:
            yield from _latency_reasons(runs.latency_us, runs.count)


def _init_reasons(init: Init | None) -> Iterator[str]:
    told = (init.load_us, init.compile_us, init.first_run_us) if init is not None else ()
    if any(duration_us is not None and duration_us < 0 for duration_us in told):
        yield "negative-duration"


def _latency_reasons(latency: Latency, count: int) -> Iterator[str]:
    if min(latency.min, latency.max, latency.sum) < 0:
        yield "negative-latency"
    elif latency.max > MAX_PLAUSIBLE_US or (count and latency.min < MIN_PLAUSIBLE_US):
        yield "latency-out-of-range"
    elif latency.min > latency.max or not count * latency.min <= latency.sum <= count * latency.max:
        yield "latency-impossible"
    elif (
        float(latency.histogram.gamma) != GAMMA
        or sum(latency.histogram.counts.values()) != count
        or (count and not _histogram_fits(latency))
    ):
        yield "histogram-impossible"


def _histogram_fits(latency: Latency) -> bool:
    """Whether the outermost buckets hold the stated minimum and maximum; one bucket of slack for rounding."""
    used = [bucket for bucket, n in latency.histogram.counts.items() if n]
    return abs(min(used) - bucket_of(latency.min)) <= 1 and abs(max(used) - bucket_of(latency.max)) <= 1


def bucket_of(latency_us: float) -> int:
    """Bucket i = ceil(log γ x); everything up to 1 µs is bucket 0."""
    return 0 if latency_us <= 1 else math.ceil(math.log(latency_us) / math.log(GAMMA) - 1e-9)


def quantile_us(counts: dict[int, int], q: float) -> float:
    """The upper-rank quantile of a histogram: 2γ^i/(γ+1) of the bucket that holds it (relative error ≤ 1 %).

    Raises ValueError for an empty histogram.
    """
    total = sum(counts.values())
    if total == 0:
        raise ValueError("a quantile of nothing")
    rank = math.ceil(q * total) or 1
    bucket = 0
    for bucket in sorted(counts):
        rank -= counts[bucket]
        if rank <= 0:
            break
    return 2 * GAMMA**bucket / (GAMMA + 1)


def clock_fault(skew_s: float | None) -> str | None:
    """What is noted of a clock that is so much ahead; None where it is near enough, or told nothing."""
    if skew_s is None or -MOST_BEHIND_S <= skew_s <= MOST_AHEAD_S:
        return None
    return "clock-ahead" if skew_s > 0 else "clock-behind"


def clock_skew_s(observation: Observation, received_at: datetime) -> float | None:
    """Device clock minus server clock, in seconds; None where the device sent none."""
    return (observation.device_time - received_at).total_seconds() if observation.device_time else None
