"""What an arm pays, in log cost, for what is not known of it: rare fall-backs cost more than a mean of logarithms shows."""

from __future__ import annotations

from typing import Final

import numpy as np

from ml.table import Numbers, Table

DOUBT: Final = 0.25
"""Log cost for each unit of variance. Half of the variance makes the median of a log-normal latency its mean; the
posterior's variance is one and a half to two times the errors' (its 80 % intervals hold 88 to 93 % of sparse tables of
releases 0.56.0 and 0.60.0)."""

RISKY_REGRET: Final = 2.5
"""An arm is risky whose 95th percentile of regret reaches this."""

RISKY_LOG_COST: Final = 0.1
"""What makes up for it: a safer arm that is expected to cost 10 % more goes first. Of premiums from 0 to 20 (safer arms
always first) the one with the lowest regret on releases 0.56.0 and 0.60.0 of AI Hub; with none, one unit in twenty of
0.56.0 takes over 2 × its best."""

UNPROVEN_LOG_COST: Final = 20.0
"""More than any two arms differ in log cost: an arm that was hardly ever compared goes behind all others."""

MIN_UNITS: Final = 10
"""Units with two measured arms before an arm's regret is believed."""


def caution(observations: Table, candidates: Table, sd: Numbers) -> Numbers:
    """Log cost to add to each candidate, whose log latency has the posterior standard deviation `sd`.

    Doubt costs everywhere; models that no device has measured pay their arms' premiums besides.
    """
    premium = _premiums(observations)
    arms, number = np.unique(candidates.arm, return_inverse=True)
    by_arm = np.array([premium.get(str(arm), UNPROVEN_LOG_COST) for arm in arms])
    return DOUBT * sd**2 + np.where(np.isin(candidates.model, observations.model), 0.0, by_arm[number])


def _premiums(observations: Table) -> dict[str, float]:
    """Premium of every arm that was compared often enough. Regret is its latency over the unit's best."""
    unit = observations.units()
    best = np.full(int(unit.max(initial=-1)) + 1, np.inf)
    np.minimum.at(best, unit, observations.latency_ms)
    compared = np.bincount(unit, minlength=len(best))[unit] >= 2
    regret, arm = (observations.latency_ms / best[unit])[compared], observations.arm[compared]
    found = {str(name): regret[arm == name] for name in np.unique(arm)}
    proven = {name: np.quantile(ratio, 0.95) for name, ratio in found.items() if len(ratio) >= MIN_UNITS}
    return {name: RISKY_LOG_COST if high >= RISKY_REGRET else 0.0 for name, high in proven.items()}
