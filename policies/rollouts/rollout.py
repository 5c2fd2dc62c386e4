"""A staged rollout: its steps, its limits, and what follows from what was seen. Pure; the guard asks and acts."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field, model_validator

from policies.errors import WrongState
from policies.rollouts.hours import StatedHours
from policies.validation import Stated, validated

MOST_SHARE_BP: Final = 9_000
"""A tenth is held out to the last step: without it there is nothing to compare with."""


class Measure(StrEnum):
    """What is guarded."""

    ERRORS = "errors"
    CRASHES = "crashes"
    GOLDEN = "golden"
    P90_LATENCY = "p90-latency"
    MEMORY = "memory"


class Limit(Stated):
    """Ratios of candidate to control. Evidence for more than `stop` ends the rollout.

    The next step waits while the estimate is over `go` by more than two standard errors.
    """

    stop: Annotated[float, Field(ge=1, le=10)]
    go: Annotated[float, Field(gt=0, le=10)]

    @model_validator(mode="after")
    def _in_order(self) -> Limit:
        if self.go > self.stop:
            raise ValueError("go must not exceed stop")
        return self


_RATES: Final = Limit(stop=1.25, go=1.1)


class Limits(Stated):
    """A limit for everything that is guarded."""

    errors: Limit = _RATES
    crashes: Limit = _RATES
    golden: Limit = _RATES
    p90_latency: Limit = Limit(stop=1.05, go=1.02)
    memory: Limit = Limit(stop=1.2, go=1.1)

    def of(self, measure: Measure) -> Limit:
        """The limit of a measure."""
        limit: Limit = getattr(self, measure.value.replace("-", "_"))
        return limit


class RolloutStep(Stated):
    """A share of units, and what has to be seen before the next one: minutes, and windows of the candidate."""

    share_bp: Annotated[int, Field(ge=1, le=MOST_SHARE_BP)]
    min_minutes: Annotated[float, Field(ge=0, le=525_600)] = 60
    min_windows: Annotated[int, Field(ge=1, le=1_000_000_000)] = 200


class RolloutPlan(Stated):
    """`false_stop_rate`: the chance that a rollout with nothing wrong is ever stopped, over all its looks.

    `hours`: when steps may be opened, any time where none are stated. A rollout is stopped at any time.
    """

    steps: Annotated[tuple[RolloutStep, ...], Field(min_length=1, max_length=20)] = (
        RolloutStep(share_bp=100),
        RolloutStep(share_bp=500),
        RolloutStep(share_bp=2_000),
        RolloutStep(share_bp=5_000),
    )
    limits: Limits = Limits()
    false_stop_rate: Annotated[float, Field(ge=1e-6, le=0.5)] = 0.01
    hours: Annotated[tuple[StatedHours, ...], Field(max_length=10)] = ()

    @model_validator(mode="after")
    def _growing(self) -> RolloutPlan:
        shares = [step.share_bp for step in self.steps]
        if shares != sorted(set(shares)):
            raise ValueError("steps: each share is larger than the one before")
        return self


def parse_rollout_plan(raw: Any) -> RolloutPlan:
    """The plan in a JSON value; raises InvalidField for the first thing wrong."""
    return validated(RolloutPlan, raw)


class State(StrEnum):
    """Where a rollout stands. Stored: never rename one."""

    SCHEDULED = "scheduled"
    RUNNING = "running"
    PAUSED = "paused"
    SUCCEEDED = "succeeded"
    STOPPED = "stopped"
    ABORTED = "aborted"


class Act(StrEnum):
    """What happens to a rollout: by a person (the first three) or by the guard.

    Nothing of a rollout that is scheduled has reached anybody: it is begun, or called off.
    """

    PAUSE = "pause"
    RESUME = "resume"
    ABORT = "abort"
    ADVANCE = "advance"
    COMPLETE = "complete"
    STOP = "stop"
    BEGIN = "begin"
    CALL_OFF = "call-off"


BY_PERSONS: Final = (Act.PAUSE, Act.RESUME, Act.ABORT)
TRANSITIONS: Final[Mapping[tuple[State, Act], State]] = {
    (State.SCHEDULED, Act.BEGIN): State.RUNNING,
    (State.SCHEDULED, Act.ABORT): State.ABORTED,
    (State.SCHEDULED, Act.CALL_OFF): State.ABORTED,
    (State.RUNNING, Act.PAUSE): State.PAUSED,
    (State.RUNNING, Act.ABORT): State.ABORTED,
    (State.RUNNING, Act.ADVANCE): State.RUNNING,
    (State.RUNNING, Act.COMPLETE): State.SUCCEEDED,
    (State.RUNNING, Act.STOP): State.STOPPED,
    (State.PAUSED, Act.RESUME): State.RUNNING,
    (State.PAUSED, Act.ABORT): State.ABORTED,
    (State.PAUSED, Act.STOP): State.STOPPED,
}
ACTIVE: Final = frozenset({State.RUNNING, State.PAUSED})
"""Some units have the candidate."""
OPEN: Final = ACTIVE | {State.SCHEDULED}
"""What there is one of at a time."""


def after(state: State, act: Act) -> State:
    """The state that follows; raises WrongState naming what can be done instead."""
    follows = TRANSITIONS.get((state, act))
    if follows is None:
        possible = ", ".join(sorted(a for at, a in TRANSITIONS if at is state)) or "nothing"
        raise WrongState(f"{act}: a rollout that is {state} allows {possible}", field="act")
    return follows
