"""From rankings of short bursts to rankings of sustained work: what heat takes from an arm, measured hot against cool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import exp

from ml.explore import FULL_BP, Split, Weight
from ml.findings.finding import by_cohort, target_of
from ml.findings.thermal import hot_and_cool
from ml.rankings import RankedArm, Ranking
from ml.rollup import Rollup

PRIOR_CELLS = 2.0
"""Cells without any thermal step that a cohort is thought to have shown before its first: few pairs move little."""


def hot_log_factors(rollups: Iterable[Rollup], soc_of: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """By (SoC, what executes): logarithm of hot ÷ cool latency, shrunk towards 0; never below 0."""
    factors = {}
    for cohort, rows in by_cohort(rollups, soc_of, precision=False).items():
        ratios = [hot - cool for hot, cool, _ in hot_and_cool(rows).values()]
        factors[cohort.soc, cohort.target] = max(0.0, sum(ratios) / (len(ratios) + PRIOR_CELLS))
    return factors


def sustained(
    ranking: Ranking, split: Split, soc: str, factors: Mapping[tuple[str, str], float]
) -> tuple[Ranking, Split]:
    """The ranking and its weights once the phone is hot: the arms in order of their hot latency.

    What was served is what led before; exploring shares stay where they are.
    """
    hot = tuple(sorted((_heated(arm, soc, factors) for arm in ranking.arms), key=lambda arm: arm.cost_ms))
    if not hot or hot[0].arm == split.weights[0].arm:
        return replace(ranking, arms=hot), split
    explored = tuple(w for w in split.weights if w.explore and w.arm != hot[0].arm)
    leader = Weight(hot[0].arm, FULL_BP - sum(w.weight_bp for w in explored), explore=False)
    return replace(ranking, arms=hot), replace(split, weights=(leader, *explored))


def _heated(arm: RankedArm, soc: str, factors: Mapping[tuple[str, str], float]) -> RankedArm:
    factor = exp(factors.get((soc, target_of(arm.arm)), 0.0))
    return replace(arm, latency_ms=arm.latency_ms * factor, cost_ms=arm.cost_ms * factor)
