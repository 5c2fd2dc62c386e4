"""Tests that stay valid when they are looked at continuously: evidence as an e-process, in logarithms.

An e-process starts at 1 and is not expected to grow where nothing is wrong. By Ville's inequality it ever passes 1/α
with a chance of at most α, however often it is looked at. Averages of e-processes are e-processes, so evidence from
many cohorts is weighed and added up without a further correction (Vovk & Wang, "E-values: calibration, combination and
applications", Annals of Statistics 49(3), 2021).

Rates: each failure bets on the candidate's side. Given how much each side did in a stratum, a failure falls on the
candidate with a chance that is known where the rates are equal, whatever they are and however they drift (Lindon &
Malek, "Anytime-Valid Inference For Multinomial Count Data", NeurIPS 2022).

Levels: a mixture of likelihood ratios over how much slower the candidate may be, with a half-normal weight (Robbins
1970; Johari, Koomen, Pekelis & Walsh, "Always Valid Inference", Operations Research 70(3), 2022). Valid for means of many
windows (Waudby-Smith et al., "Time-uniform central limit theory", Annals of Statistics 52(6), 2024): hence the least
number of windows before a level is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

BETS: Final = (1.5, 2.0, 4.0, 8.0, 16.0)
"""How many times the tolerated rate the candidate may fail at; the bet is spread evenly."""
EFFECT_SCALE: Final = 0.2
"""Scale of the effects a level's test is sharpest for, in log: about a fifth over what is tolerated."""
LEAST_FREEDOM: Final = 30
"""Windows beyond one a group that a level's variance is estimated from, at least."""
DOUBT: Final = 2.0
"""Standard errors over what it may be, from which on a candidate is doubted: not stopped, and not brought further."""
LEAST_NOISE: Final = 1e-9
"""Variance of a window in log that nothing falls below: three in a hundred thousand."""
NO_EVIDENCE: Final = 0.0


@dataclass(frozen=True, slots=True)
class Failures:
    """One stratum: failures and windows of the candidate and of the control."""

    candidate_failed: int
    candidate: int
    control_failed: int
    control: int


@dataclass(frozen=True, slots=True)
class Levels:
    """One side of a stratum: number, sum and sum of squares of its logarithms."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    @property
    def spread(self) -> float:
        """Squared distances from the mean, summed up."""
        return max(0.0, self.squares - self.total**2 / self.n) if self.n else 0.0


@dataclass(frozen=True, slots=True)
class Shift:
    """How much higher the candidate's logarithms are, the variance of that estimate, and that of a single window."""

    estimate: float
    variance: float
    noise: float = 0.0


def log_e_of_failures(strata: Iterable[Failures], tolerated: float, bets: Sequence[float] = BETS) -> float:
    """Log evidence that the candidate fails over `tolerated` times as often as the control."""
    logs = [0.0] * len(bets)
    for stratum in strata:
        if stratum.candidate and stratum.control:
            for place, bet in enumerate(bets):
                logs[place] += _bet(stratum, tolerated, bet)
    return log_mean(logs, [1 / len(bets)] * len(bets))


def _bet(stratum: Failures, tolerated: float, bet: float) -> float:
    odds = tolerated * stratum.candidate / stratum.control
    fair, claimed = odds / (1 + odds), bet * odds / (1 + bet * odds)
    return stratum.candidate_failed * math.log(claimed / fair) + stratum.control_failed * math.log(
        (1 - claimed) / (1 - fair)
    )


def rate_ratio(strata: Iterable[Failures]) -> float:
    """How many times as often the candidate fails: Mantel and Haenszel's estimate, pulled to 1 by a half on either side.

    A failure weighs as much as the other side's share of its stratum (Journal of the National Cancer Institute 22, 1959).
    """
    candidate, control = 0.5, 0.5
    for stratum in strata:
        if stratum.candidate and stratum.control:
            both = stratum.candidate + stratum.control
            candidate += stratum.candidate_failed * stratum.control / both
            control += stratum.control_failed * stratum.candidate / both
    return candidate / control


def failures_doubtful(strata: Iterable[Failures], ratio: float) -> bool:
    """Whether the candidate failed more often than `ratio` times the control's rate by over DOUBT standard errors."""
    over, variance = 0.0, 0.0
    for stratum in strata:
        if stratum.candidate and stratum.control:
            odds = ratio * stratum.candidate / stratum.control
            share, failed = odds / (1 + odds), stratum.candidate_failed + stratum.control_failed
            over += stratum.candidate_failed - failed * share
            variance += failed * share * (1 - share)
    return over > DOUBT * math.sqrt(variance)


def shift_doubtful(found: Shift | None, log_ratio: float) -> bool:
    """Whether the candidate's level is over that by more than DOUBT standard errors."""
    return found is not None and found.estimate - log_ratio > DOUBT * math.sqrt(found.variance)


def shift(strata: Sequence[tuple[Levels, Levels]], least_noise: float = LEAST_NOISE) -> Shift | None:
    """Candidate against control within strata, weighed by how much each tells; None where too little is known.

    `least_noise`: the variance of a window is taken to be at least this. A small cohort that was calm so far would
    else be surprised by the first restless window.
    """
    both = [(new, old) for new, old in strata if new.n and old.n]
    freedom = sum(new.n + old.n - 2 for new, old in both)
    if freedom < LEAST_FREEDOM:
        return None
    noise = max(least_noise, sum(new.spread + old.spread for new, old in both) / freedom)
    weights = [new.n * old.n / (new.n + old.n) for new, old in both]
    gaps = (new.total / new.n - old.total / old.n for new, old in both)
    estimate = sum(w * gap for w, gap in zip(weights, gaps, strict=True)) / sum(weights)
    return Shift(estimate, noise / sum(weights), noise)


def log_e_of_shift(found: Shift | None, tolerated_log: float) -> float:
    """Log evidence that the candidate's level is over the control's by more than `tolerated_log`."""
    if found is None:
        return NO_EVIDENCE
    over, variance, prior = found.estimate - tolerated_log, found.variance, EFFECT_SCALE**2
    width = variance * (variance + prior)
    tail = 0.5 * math.erfc(-over * EFFECT_SCALE / math.sqrt(2 * width))
    return (
        math.log(2)
        + 0.5 * math.log(variance / (variance + prior))
        + prior * over**2 / (2 * width)
        + (math.log(tail) if tail > 0 else -prior * over**2 / (2 * width))
    )


def log_mean(logs: Sequence[float], weights: Sequence[float]) -> float:
    """The logarithm of the weighted mean of what these are logarithms of."""
    top = max(logs)
    return top + math.log(sum(w * math.exp(log - top) for log, w in zip(logs, weights, strict=True)))
