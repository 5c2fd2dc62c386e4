"""Observation: one window of runs of one arm, as devices report it. Every number is bounded: what is stored cannot wrap.

The parts of a record cannot refer back to it, so that the garbage collector need not look at them (`gc=False`): among the
thousands of a batch it would find nothing, again and again.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

MAX_INT64: Final = 2**63 - 1
# A clock that is set back makes a duration negative: such a record is judged with the others, not refused unread.
Micros = Annotated[int, Meta(ge=-MAX_INT64, le=86_400_000_000)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Small = Annotated[int, Meta(ge=0, le=32_767)]
# `\Z`, as `$` would let a line feed through at the end. PostgreSQL text holds no NUL; the pattern refuses it together with the other control characters.
Text = Annotated[str, Meta(max_length=256, pattern=r"^[^\x00-\x1f\x7f]*\Z")]
Name = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z")]
# An arm as the document named it: in a staged rollout with the side it was served on.
ArmKey = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=160,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?:\+(?:candidate|candidate-explore|explore))?\Z",
    ),
]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Share = Annotated[float, Meta(ge=0, le=1)]


class Requested(Struct, frozen=True, gc=False):
    """What the decision asked for."""

    delegate: Text
    accelerator: Text | None = None


class Executed(Struct, frozen=True, gc=False):
    """Who executed, read back from the runtime: credit goes to the executor."""

    by: Text
    delegated_nodes: Count | None = None
    total_nodes: Count | None = None
    partitions: Small | None = None


class Init(Struct, frozen=True, gc=False):
    """Start-up times in µs."""

    load_us: Micros | None = None
    compile_us: Micros | None = None
    cache_hit: bool | None = None
    first_run_us: Micros | None = None


class Histogram(Struct, frozen=True, gc=False):
    """Bucket i holds latencies in (γ^(i−1), γ^i] µs; keys are bucket numbers, in JSON as text."""

    gamma: float
    counts: Annotated[dict[Annotated[int, Meta(ge=0, le=9_999)], Count], Meta(max_length=2_000)]


class Latency(Struct, frozen=True, gc=False):
    """Latencies of successful runs, in µs."""

    min: int
    max: int
    sum: int
    histogram: Histogram


class Runs(Struct, frozen=True, gc=False):
    """Runs of the window: `count` succeeded; errors by code, timeouts and fallbacks beside them."""

    count: Count
    errors: Annotated[dict[Text, Count], Meta(max_length=64)] = {}
    timeouts: Count = 0
    fallbacks: Count = 0
    latency_us: Latency | None = None


class Condition(Struct, frozen=True, gc=False):
    """State of the phone at one end of the window; absent is not zero."""

    thermal_status: Annotated[int, Meta(ge=0, le=6)] | None = None
    thermal_headroom: float | None = None
    battery_c: Annotated[float, Meta(ge=-60, le=150)] | None = None
    battery_share: Share | None = None
    charging: bool | None = None
    screen_on: bool | None = None
    battery_saver: bool | None = None


class Conditions(Struct, frozen=True, gc=False):
    """Both ends of the window."""

    before: Condition | None = None
    after: Condition | None = None


NON_FINITE: Final = 1e12
"""The relative error of an output that is no number, or without bound: JSON can say neither."""


class Golden(Struct, frozen=True, gc=False):
    """Outputs against the reference on a fixed input."""

    checks: Count
    passed: Count
    max_rel_error: Annotated[float, Meta(ge=0, le=NON_FINITE)] | None = None


class Observation(Struct, frozen=True, gc=False):
    """One record. `kind` "attempt" marks a start; the window that follows carries its id in `attempt_id`."""

    record_id: UUID
    report_id: Digest
    app: Name
    release: Annotated[int, Meta(ge=0, le=2_147_483_647)]
    model: Name
    arm: ArmKey
    kind: Literal["window", "attempt"]
    plan: Name | None = None
    propensity: Share | None = None
    workload: Literal["burst", "sustained"] | None = None
    requested: Requested | None = None
    executed: Executed | None = None
    init: Init | None = None
    runs: Runs | None = None
    conditions: Conditions | None = None
    golden: Golden | None = None
    attempt_id: UUID | None = None
    memory_peak_kb: Annotated[int, Meta(ge=0, le=MAX_INT64)] | None = None
    device_time: Annotated[datetime, Meta(tz=True)] | None = None
    monotonic_ms: Annotated[int, Meta(ge=0, le=MAX_INT64)] | None = None
    sdk: Text | None = None
    app_version: Text | None = None


_DECODER: Final = msgspec.json.Decoder(Observation)


def decode_observation(raw: bytes | msgspec.Raw) -> Observation:
    """The record in `raw`; raises msgspec.ValidationError or DecodeError naming the path of the first fault."""
    return _DECODER.decode(raw)
