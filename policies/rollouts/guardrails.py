"""What a rollout showed, against its limits: stop it, open its next step, or wait."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policies.rollouts.intervals import CONFIDENCE
from policies.rollouts.readings import Reading, Stratum, reading
from policies.rollouts.rollout import Act, Measure, RolloutPlan, State


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is to be done (None: wait), why, and every reading."""

    act: Act | None
    because: str
    readings: tuple[Reading, ...]
    candidate_windows: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "act": self.act,
            "because": self.because,
            "candidate_windows": self.candidate_windows,
            "confidence": CONFIDENCE,
            "readings": [found.to_json() for found in self.readings],
        }


def judge(
    plan: RolloutPlan,
    state: State,
    step: int,
    minutes: float,
    release: int,
    strata: Sequence[Stratum],
    cohorts: Mapping[str, Sequence[str]],
    closed: str = "",
) -> Judgement:
    """What follows. `minutes` since the step began, `release` the one that began it. `closed`: why the hours let no step be
    opened now; a breach stops at any hour.

    `cohorts`: "soc" and "model" → the names there were when the rollout began. Fixed then, as the weights of the
    evidence have to be; what came later counts in the whole.
    """
    readings = tuple(reading(plan, measure, strata, cohorts) for measure in Measure)
    windows = sum(stratum.candidate.windows for stratum in strata if stratum.release >= release)
    breached = [found for found in readings if found.breached]
    if breached:
        worst = max(breached, key=lambda found: found.log_evidence)
        return Judgement(Act.STOP, _told(worst), readings, windows)
    waiting = _waiting(plan, state, step, minutes, windows, readings) or closed
    if waiting:
        return Judgement(None, waiting, readings, windows)
    last = step == len(plan.steps) - 1
    because = f"{windows} windows of the candidate in {minutes:.0f} minutes, every guardrail within its limit"
    return Judgement(Act.COMPLETE if last else Act.ADVANCE, because, readings, windows)


def _waiting(
    plan: RolloutPlan, state: State, step: int, minutes: float, windows: int, readings: Iterable[Reading]
) -> str:
    asked = plan.steps[step]
    if state is not State.RUNNING:
        return f"the rollout is {state}"
    if minutes < asked.min_minutes:
        return f"{minutes:.0f} of {asked.min_minutes:g} minutes"
    if windows < asked.min_windows:
        return f"{windows} of {asked.min_windows} windows"
    over = [f"{r.measure} is at {r.ratio:.3f} ×, clearly over {r.limit.go:g} ×" for r in readings if r.doubtful]
    return "; ".join(over)


def _told(breach: Reading) -> str:
    return (
        f"{breach.measure} is {breach.cohort_ratio:.2f} × the control's on {breach.cohort}, over the limit of "
        f"{breach.limit.stop:g} ×; evidence 10^{breach.log_evidence / math.log(10):.1f}, needed "
        f"10^{breach.log_needed / math.log(10):.1f}"
    )
