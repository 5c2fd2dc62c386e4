"""How many times the control's a candidate's rate or level may truly be: intervals that hold at every look at once.

A ratio lies in the interval as long as its e-process (`policies.rollouts.sequential`) is below `1 / α`. The true ratio
is outside of it at any of all looks with a chance of at most α: a confidence sequence (Howard, Ramdas, McAuliffe &
Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49(2), 2021).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from policies.rollouts.sequential import EFFECT_SCALE, Failures, Shift, log_e_of_failures

CONFIDENCE: Final = 0.95
"""The chance that an interval holds the true ratio at every look, each interval by itself."""
FINE_BETS: Final = (1.05, 1.1, 1.2, 1.5, 2.0, 4.0, 8.0)
"""Finer than those of the guard: an interval tells also of small effects, a guard only of what is over its limit."""
FURTHEST: Final = 1_000.0
"""Bounds are looked for up to this ratio and down to its inverse; beyond, nothing is said."""
PRECISION: Final = 0.0005
"""What a bound of a rate is exact to, in log."""
_ALPHA: Final = 1 - CONFIDENCE


@dataclass(frozen=True, slots=True)
class Interval:
    """Ratios of candidate to control that are not excluded. 0 and infinity where nothing bounds them."""

    low: float = 0.0
    high: float = math.inf


NOTHING_KNOWN: Final = Interval()


def interval_of_shift(found: Shift | None) -> Interval:
    """Of a level. The mixture over effects is normal, on both sides of none (Robbins 1970), and solved by hand."""
    if found is None:
        return NOTHING_KNOWN
    variance, prior = found.variance, EFFECT_SCALE**2
    evidence = 2 * math.log(1 / _ALPHA) + math.log((variance + prior) / variance)
    width = math.sqrt(variance * (variance + prior) / prior * evidence)
    return Interval(math.exp(found.estimate - width), math.exp(found.estimate + width))


def interval_of_rates(strata: Sequence[Failures]) -> Interval:
    """Of a rate. The upper bound is the lower one with the sides exchanged."""
    telling = [s for s in strata if s.candidate and s.control and s.candidate_failed + s.control_failed]
    least_inverse = _least([Failures(s.control_failed, s.control, s.candidate_failed, s.candidate) for s in telling])
    return Interval(_least(telling), 1 / least_inverse if least_inverse else math.inf)


def _least(strata: Sequence[Failures]) -> float:
    """The least ratio that is not excluded. Evidence for more than a ratio falls as the ratio grows: halve."""
    needed = math.log(2 / _ALPHA)
    low, high = -math.log(FURTHEST), math.log(FURTHEST)
    if log_e_of_failures(strata, math.exp(low), FINE_BETS) < needed:
        return 0.0
    while high - low > PRECISION:
        middle = (low + high) / 2
        if log_e_of_failures(strata, math.exp(middle), FINE_BETS) < needed:
            high = middle
        else:
            low = middle
    return math.exp(low)
