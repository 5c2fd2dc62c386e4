"""A rollout as its page shows it: steps, guardrails against the control, and what happened. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from policies.rollouts.rollout import OPEN, Limit, Measure, RolloutPlan, State

EVERYBODY_BP: Final = 10_000
_SHARES_AT_THE_END: Final[Mapping[State, int]] = {
    State.SCHEDULED: 0,
    State.SUCCEEDED: EVERYBODY_BP,
    State.STOPPED: 0,
    State.ABORTED: 0,
}
_STEP_AT: Final[Mapping[State, str]] = {
    State.SCHEDULED: "ahead",
    State.RUNNING: "current",
    State.PAUSED: "paused",
    State.SUCCEEDED: "passed",
    State.STOPPED: "stopped",
    State.ABORTED: "aborted",
}


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the timeline."""

    at: datetime
    what: str
    by: str
    because: str | None
    share_bp: int | None
    release: int | None
    starts_at: str | None = None
    readings: Sequence[Mapping[str, Any]] = ()
    """What the guard did it on; none for what a person did."""


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step of the plan and how far it is; `event` is what opened it."""

    share_bp: int
    min_minutes: float
    min_windows: int
    standing: str
    event: Event | None


LEAST_RATIO: Final = 0.5
MOST_RATIO: Final = 2.0
"""Ends of the axis that ratios are drawn on; what lies beyond is drawn at the end."""


@dataclass(frozen=True, slots=True)
class RatioMark:
    """A ratio, what is not excluded around it, and its limits, as places 0…100 on a logarithmic axis."""

    low: float
    middle: float
    high: float
    same: float
    go: float
    stop: float


@dataclass(frozen=True, slots=True)
class GuardLine:
    """A guardrail and what the guard read last; `read` None before its first look.

    `part` is the evidence as a part of what stops the rollout, 0…1.
    """

    measure: str
    stop: float
    go: float
    read: Mapping[str, Any] | None
    standing: str
    part: float
    drawn: RatioMark | None


def share_now_bp(state: str, step_share_bp: int) -> int:
    """The units that have the candidate, in basis points."""
    return _SHARES_AT_THE_END.get(State(state), step_share_bp)


def events(timeline: Sequence[Mapping[str, Any]], *, told: bool = True) -> list[Event]:
    """What happened, in order; unless `told` without why, which may name what the reader does not see."""
    return [
        Event(
            datetime.fromisoformat(line["at"]),
            line["what"],
            line["by"],
            line.get("because") if told else None,
            line.get("share_bp"),
            line.get("release"),
            line.get("starts_at"),
            line.get("readings", ()) if told else (),
        )
        for line in timeline
    ]


def steps(plan: RolloutPlan, state: str, step: int, happened: Sequence[Event]) -> list[StepLine]:
    """The plan's steps. A step is opened by the event that names its share."""
    opened = {event.share_bp: event for event in happened if event.share_bp is not None}
    return [
        StepLine(
            asked.share_bp, asked.min_minutes, asked.min_windows, _standing(state, step, at), opened.get(asked.share_bp)
        )
        for at, asked in enumerate(plan.steps)
    ]


def _standing(state: str, step: int, at: int) -> str:
    if at > step:
        return "ahead" if state in OPEN else "not reached"
    return "passed" if at < step else _STEP_AT[State(state)]


def guardrails(plan: RolloutPlan, judgement: Mapping[str, Any] | None) -> Iterator[GuardLine]:
    """Every guardrail of the plan, with its reading where there is one."""
    read = {reading["measure"]: reading for reading in (judgement or {}).get("readings", ())}
    for measure in Measure:
        limit = plan.limits.of(measure)
        found = read.get(measure)
        drawn = _drawn(found, limit) if found and "low" in found else None
        yield GuardLine(measure, limit.stop, limit.go, found, _verdict(found, limit.go), _part(found), drawn)


def _drawn(read: Mapping[str, Any], limit: Limit) -> RatioMark:
    """A bound that nothing is known of is None: it lies beyond the end."""
    low, high = read["low"] or 0.0, math.inf if read["high"] is None else read["high"]
    return RatioMark(*(_place(ratio) for ratio in (low, read["ratio"], high, 1.0, limit.go, limit.stop)))


def _place(ratio: float) -> float:
    clipped = min(max(ratio, LEAST_RATIO), MOST_RATIO)
    return 100 * math.log(clipped / LEAST_RATIO) / math.log(MOST_RATIO / LEAST_RATIO)


def _verdict(read: Mapping[str, Any] | None, go: float) -> str:
    if read is None:
        return "not read yet"
    if read["breached"]:
        return "breached"
    return "holds the next step" if read["ratio"] > go else "within"


def _part(read: Mapping[str, Any] | None) -> float:
    if read is None or read["needed_log10"] <= 0:
        return 0.0
    return min(max(float(read["evidence_log10"]) / float(read["needed_log10"]), 0.0), 1.0)
