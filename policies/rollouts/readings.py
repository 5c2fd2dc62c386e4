"""What a rollout showed of each guardrail: evidence, estimate and interval, over all and in the worst cohort."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from policies.rollouts.intervals import Interval, interval_of_rates, interval_of_shift
from policies.rollouts.rollout import Limit, Measure, RolloutPlan
from policies.rollouts.sequential import (
    LEAST_NOISE,
    Failures,
    Levels,
    failures_doubtful,
    log_e_of_failures,
    log_e_of_shift,
    log_mean,
    rate_ratio,
    shift,
    shift_doubtful,
)

ALL: Final = "all"
NOTHING: Final = Levels()
_LEVELS: Final = frozenset({Measure.P90_LATENCY, Measure.MEMORY})


@dataclass(frozen=True, slots=True)
class Seen:
    """One side of a stratum, in batches: of windows, with how many failed or were wrong; of starts, with how many crashed."""

    windows: int = 0
    failed: int = 0
    wrong: int = 0
    starts: int = 0
    crashed: int = 0
    log_p90: Levels = NOTHING
    log_memory: Levels = NOTHING


@dataclass(frozen=True, slots=True)
class Stratum:
    """Units that differ in nothing but the draw: one device class, model, workload and release. `release` tells steps."""

    soc: str
    model: str
    release: int
    candidate: Seen
    control: Seen


@dataclass(frozen=True, slots=True)
class Reading:
    """One guardrail: its evidence (passes `1 / α` where it stops), the worst cohort, the estimates there and over all.

    `interval` is that of `ratio`, over all; `candidate_n` and `control_n` are what either side has of what is counted:
    batches of starts for crashes, for levels those that tell the level, and batches of windows else. `doubtful`: over all, the
    estimate is clearly over `limit.go`.
    """

    measure: Measure
    log_evidence: float
    log_needed: float
    cohort: str
    cohort_ratio: float
    ratio: float
    interval: Interval
    candidate_n: int
    control_n: int
    limit: Limit
    doubtful: bool

    @property
    def breached(self) -> bool:
        """Whether the evidence is enough."""
        return self.log_evidence >= self.log_needed

    def to_json(self) -> dict[str, Any]:
        """Plain values; evidence as a factor of ten, None for a bound that nothing is known of."""
        return {
            "measure": self.measure,
            "evidence_log10": round(self.log_evidence / math.log(10), 2),
            "needed_log10": round(self.log_needed / math.log(10), 2),
            "cohort": self.cohort,
            "cohort_ratio": round(self.cohort_ratio, 3),
            "ratio": round(self.ratio, 3),
            "low": round(self.interval.low, 3) if self.interval.low > 0 else None,
            "high": round(self.interval.high, 3) if math.isfinite(self.interval.high) else None,
            "candidate_n": self.candidate_n,
            "control_n": self.control_n,
            "stop_over": self.limit.stop,
            "breached": self.breached,
        }


def reading(
    plan: RolloutPlan, measure: Measure, strata: Sequence[Stratum], cohorts: Mapping[str, Sequence[str]]
) -> Reading:
    """The evidence of a measure: a third of the weight on all, a third on single SoCs, a third on single models."""
    limit = plan.limits.of(measure)
    groups: list[tuple[str, float, Sequence[Stratum]]] = [(ALL, 1 / 3, strata)]
    for fact, names in cohorts.items():
        by_name = _grouped(strata, fact)
        groups += [(f"{fact} {name}", 1 / 3 / len(names), by_name.get(name, ())) for name in names]
    noise = _noise(measure, strata)
    found = [(name, weight, *_measured(measure, members, limit, noise)) for name, weight, members in groups]
    evidence = log_mean([log_e for _, _, log_e, _ in found], [weight for _, weight, _, _ in found])
    needed = math.log(len(Measure) / plan.false_stop_rate)
    cohort, cohort_ratio = _named(found, needed)
    return Reading(
        measure,
        evidence,
        needed,
        cohort,
        cohort_ratio,
        found[0][3],
        _interval(measure, strata),
        *_sizes(measure, strata),
        limit,
        _doubtful(measure, strata, limit.go),
    )


def _named(found: Sequence[tuple[str, float, float, float]], needed: float) -> tuple[str, float]:
    """(cohort, its ratio) of rows (cohort, weight, log evidence, ratio): of those whose share of the evidence is enough by
    itself the one that is hit hardest, so that one bad SoC is not told as a slight harm to all; else the one with the most.
    """
    enough = [row for row in found if row[2] + math.log(row[1]) >= needed]
    hit = max(enough, key=lambda row: row[3]) if enough else max(found, key=lambda row: row[2] + math.log(row[1]))
    return hit[0], hit[3]


def _grouped(strata: Iterable[Stratum], fact: str) -> dict[str, list[Stratum]]:
    grouped: dict[str, list[Stratum]] = {}
    for stratum in strata:
        grouped.setdefault(getattr(stratum, fact), []).append(stratum)
    return grouped


def _noise(measure: Measure, strata: Sequence[Stratum]) -> float:
    """The variance of a window's level over the whole fleet; the least there is where that is not known."""
    found = shift(_levels(measure, strata)) if measure in _LEVELS else None
    return found.noise if found else LEAST_NOISE


def _measured(measure: Measure, strata: Sequence[Stratum], limit: Limit, noise: float) -> tuple[float, float]:
    """(log evidence, estimated ratio) of a measure in a cohort."""
    if measure in _LEVELS:
        found = shift(_levels(measure, strata), noise)
        return log_e_of_shift(found, math.log(limit.stop)), math.exp(found.estimate) if found else 1.0
    failures = [_failures(measure, stratum) for stratum in strata]
    return log_e_of_failures(failures, limit.stop), rate_ratio(failures)


def _doubtful(measure: Measure, strata: Sequence[Stratum], ratio: float) -> bool:
    if measure in _LEVELS:
        return shift_doubtful(shift(_levels(measure, strata)), math.log(ratio))
    return failures_doubtful([_failures(measure, stratum) for stratum in strata], ratio)


def _interval(measure: Measure, strata: Sequence[Stratum]) -> Interval:
    if measure in _LEVELS:
        return interval_of_shift(shift(_levels(measure, strata)))
    return interval_of_rates([_failures(measure, stratum) for stratum in strata])


def _sizes(measure: Measure, strata: Sequence[Stratum]) -> tuple[int, int]:
    """(what the candidate has, what the control has) of what the measure counts, where both have some."""
    if measure in _LEVELS:
        sizes = [(new.n, old.n) for new, old in _levels(measure, strata)]
    else:
        sizes = [(found.candidate, found.control) for found in (_failures(measure, stratum) for stratum in strata)]
    both = [(new, old) for new, old in sizes if new and old]
    return sum(new for new, _ in both), sum(old for _, old in both)


def _levels(measure: Measure, strata: Iterable[Stratum]) -> list[tuple[Levels, Levels]]:
    if measure is Measure.P90_LATENCY:
        return [(stratum.candidate.log_p90, stratum.control.log_p90) for stratum in strata]
    return [(stratum.candidate.log_memory, stratum.control.log_memory) for stratum in strata]


def _failures(measure: Measure, stratum: Stratum) -> Failures:
    new, old = stratum.candidate, stratum.control
    if measure is Measure.CRASHES:
        return Failures(new.crashed, new.starts, old.crashed, old.starts)
    if measure is Measure.GOLDEN:
        return Failures(new.wrong, new.windows, old.wrong, old.windows)
    return Failures(new.failed, new.windows, old.failed, old.windows)
