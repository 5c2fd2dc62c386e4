"""A rollout as its page shows it: steps, guardrails against the control, and what happened. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from policies.rollouts.rollout import ACTIVE, Measure, RolloutPlan, State

EVERYBODY_BP: Final = 10_000
_SHARES_AT_THE_END: Final[Mapping[State, int]] = {State.SUCCEEDED: EVERYBODY_BP, State.STOPPED: 0, State.ABORTED: 0}
_STEP_AT: Final[Mapping[State, str]] = {
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


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step of the plan and how far it is; `event` is what opened it."""

    share_bp: int
    min_minutes: float
    min_windows: int
    standing: str
    event: Event | None


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


def share_now_bp(state: str, step_share_bp: int) -> int:
    """The units that have the candidate, in basis points."""
    return _SHARES_AT_THE_END.get(State(state), step_share_bp)


def events(timeline: Sequence[Mapping[str, Any]]) -> list[Event]:
    """What happened, in order."""
    return [
        Event(
            datetime.fromisoformat(told["at"]),
            told["what"],
            told["by"],
            told.get("because"),
            told.get("share_bp"),
            told.get("release"),
        )
        for told in timeline
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
        return "ahead" if state in ACTIVE else "not reached"
    return "passed" if at < step else _STEP_AT[State(state)]


def guardrails(plan: RolloutPlan, judgement: Mapping[str, Any] | None) -> Iterator[GuardLine]:
    """Every guardrail of the plan, with its reading where there is one."""
    read = {reading["measure"]: reading for reading in (judgement or {}).get("readings", ())}
    for measure in Measure:
        limit = plan.limits.of(measure)
        found = read.get(measure)
        yield GuardLine(measure, limit.stop, limit.go, found, _verdict(found, limit.go), _part(found))


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
