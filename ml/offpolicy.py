"""What a ranking would have cost, from what another one logged: IPS, SNIPS and doubly robust estimates.

Costs are logarithms: on ratios the weights' tail and the costs' tail multiply, and no interval holds. Every arm that the
new ranking may serve must have had a chance in the log; `Overlap` says how much of it had. A model alone is no estimate
of a policy, so none is offered.

Dudík, Langford & Li (2011) for the doubly robust one, Swaminathan & Joachims (2015) for SNIPS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import norm

from ml.table import Numbers

MIN_PROPENSITY: Final = 1e-4
"""One basis point: the smallest weight that a split can serve."""


@dataclass(frozen=True)
class Logged:
    """n served uses. All columns have length n.

    `log_cost` : observed log cost (log ms). `propensity` : probability with which the log served this arm.
    `target` : probability with which the new ranking serves the same arm there.
    `predicted` : a model's log cost of the arm served. `expected` : the model's log cost of the new ranking there, its
    weights times the model's log cost of each of its arms. The model must not have learned from these uses.
    """

    log_cost: Numbers
    propensity: Numbers
    target: Numbers
    predicted: Numbers
    expected: Numbers

    def __post_init__(self) -> None:
        columns = (self.log_cost, self.propensity, self.target, self.predicted, self.expected)
        if len({len(column) for column in columns}) > 1 or not len(self.log_cost):
            raise ValueError("columns of logged uses need one equal length, at least one")
        if not all(np.isfinite(column).all() for column in columns):
            raise ValueError("logged uses hold a number that is not finite")
        if (self.propensity < MIN_PROPENSITY).any() or (self.propensity > 1).any():
            raise ValueError(f"a propensity lies outside {MIN_PROPENSITY} to 1")

    @property
    def weight(self) -> Numbers:
        """Importance weights, target ÷ propensity."""
        return self.target / self.propensity


@dataclass(frozen=True)
class Estimate:
    """Mean log cost of the new ranking, with the interval that holds it at the stated level."""

    method: str
    log_cost: float
    low: float
    high: float


@dataclass(frozen=True)
class Overlap:
    """How far the log speaks of the new ranking: uses, uses that are worth as many, mean and largest weight.

    The mean weight is 1 where every arm of the new ranking had a chance; below, the rest was never logged.
    """

    uses: int
    effective: float
    mean_weight: float
    largest_weight: float


def overlap(logged: Logged) -> Overlap:
    """Effective sample size (Kish) and extent of the weights."""
    weight = logged.weight
    squared = float((weight**2).sum())
    effective = float(weight.sum()) ** 2 / squared if squared > 0 else 0.0
    return Overlap(len(weight), effective, float(weight.mean()), float(weight.max()))


def ips(logged: Logged, level: float = 0.95) -> Estimate:
    """Inverse propensity scores: unbiased, and as noisy as the weights are large."""
    return _mean("ips", logged.weight * logged.log_cost, level)


def snips(logged: Logged, level: float = 0.95) -> Estimate:
    """Self-normalised: the weighted mean, interval by the delta method. Raises ValueError where no weight is positive."""
    weight = logged.weight
    if not weight.any():
        raise ValueError("the log never served an arm of the new ranking")
    value = float(weight @ logged.log_cost / weight.sum())
    spread = _mean("", weight * (logged.log_cost - value) / weight.mean(), level)
    return Estimate("snips", value, value + spread.low - spread.log_cost, value + spread.high - spread.log_cost)


def doubly_robust(logged: Logged, level: float = 0.95) -> Estimate:
    """The model's expectation, corrected by its weighted errors: right where either the model or the weights are."""
    correction = logged.weight * (logged.log_cost - logged.predicted)
    return _mean("dr", logged.expected + correction, level)


def _mean(method: str, values: Numbers, level: float) -> Estimate:
    """Mean with its normal interval; one value alone has none."""
    mean = float(values.mean())
    count = len(values)
    error = float(values.std(ddof=1)) / count**0.5 if count > 1 else float("inf")
    half = float(norm.ppf(0.5 + level / 2)) * error
    return Estimate(method, mean, mean - half, mean + half)
