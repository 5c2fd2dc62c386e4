"""Walking a ladder: rung by rung, until one has made all the runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from nnfleet_client.plan import Plan, Rung
from nnfleet_client.runner import Runner
from nnfleet_client.window import Window, measure


class Ending(StrEnum):
    """How a rung ended."""

    RAN = "ran"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    GOLDEN_FAILED = "golden_failed"
    PASSED_OVER = "passed_over"


@dataclass(frozen=True, slots=True)
class Step:
    """One rung of a walk. `window` is None for a rung that was passed over (it failed or crashed before)."""

    arm_id: str
    ending: Ending
    window: Window | None = None


class Witness(Protocol):
    """Told about every start before it is made and every end after it; keeps what must survive a crash."""

    def excludes(self, rung: Rung, last: bool) -> bool:
        """True where a rung is to be passed over; the last one only where it ended one process after the other."""
        ...

    def starting(self, rung: Rung, passed_over: Sequence[str]) -> None:
        """Called before the runner is. What it writes is all that is left if the process dies now."""
        ...

    def ended(self, rung: Rung, window: Window, fell: bool) -> None:
        """Called after the session is closed. `fell` says that the walk goes one rung down."""
        ...


def walk(plan: Plan, runner: Runner, runs: int, witness: Witness) -> tuple[Step, ...]:
    """Try the rungs in order; a step for each, the last one being the arm that served.

    A rung that cannot start, whose golden check fails, that fails or times out while running is left for good, and
    the next rung makes the runs still missing. There is nothing below the last rung, so less is held against it. What is no ArmFailed or RunTimeout (ProcessDied) escapes, leaving the witness's mark behind.
    """
    steps: list[Step] = []
    passed_over: list[str] = []
    missing = runs
    for rung in plan.ladder:
        last = rung is plan.ladder[-1]
        if witness.excludes(rung, last):
            passed_over.append(rung.arm_id)
            steps.append(Step(rung.arm_id, Ending.PASSED_OVER))
            continue
        witness.starting(rung, passed_over)
        window = measure(runner, plan.model, rung, missing, must_serve=last)
        ending = _ending(window, last)
        witness.ended(rung, window, fell=ending is not Ending.RAN and not last)
        steps.append(Step(rung.arm_id, ending, window))
        if ending is Ending.RAN:
            break
        missing -= window.count
        passed_over.append(rung.arm_id)
    return tuple(steps)


def _ending(window: Window, last: bool) -> Ending:
    if window.timeouts:
        return Ending.TIMED_OUT
    if window.failure is not None:
        return Ending.FAILED
    if not last and window.golden is not None and not window.golden.good:
        return Ending.GOLDEN_FAILED
    return Ending.RAN
