"""Weights for each ranking: the leader serves, a budgeted share measures where knowing more can pay.

Weights are basis points out of 10,000 and are the propensities, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ml.limits import Exclusion
from ml.rankings import Rankings
from ml.table import Index, Numbers
from ml.worth import worth

FULL_BP: Final = 10_000
LOWER_Z: Final = 1.2816
"""An arm is judged by the 10 % quantile of its cost: what it may well turn out to be."""


@dataclass(frozen=True)
class Budget:
    """How much of the traffic may measure.

    mean_bp : over all units, weighted by traffic; max_bp : in any one unit; trickle_bp : in every unit with a
    choice, for arms measured long ago or judged by few reports; cost_cap : an arm is tried only while it may cost
    less than this times the leader.
    """

    mean_bp: int = 500
    max_bp: int = 2_000
    trickle_bp: int = 50
    cost_cap: float = 2.0


@dataclass(frozen=True)
class Weight:
    """Share of an arm, `weight_bp` out of 10,000. `explore` marks every arm but the leader."""

    arm: str
    weight_bp: int
    explore: bool


@dataclass(frozen=True)
class Split:
    """Weights of one device class and model, the leader first; they add up to 10,000."""

    device_class: str
    model: str
    weights: tuple[Weight, ...]


@dataclass(frozen=True)
class Splits:
    """`weight_bp` of every candidate cell of `rankings`; iterate for `Split` records.

    Units without any allowed arm have no split and weights of 0.
    """

    rankings: Rankings
    weight_bp: Index

    def __iter__(self) -> Iterator[Split]:
        order, starts = self.rankings.order, self.rankings.starts
        cells = self.rankings.cells
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            rows = [row for row in order[start:end].tolist() if self.weight_bp[row] > 0]
            if rows:
                arms = [Weight(str(cells.arm[row]), int(self.weight_bp[row]), row != rows[0]) for row in rows]
                yield Split(str(cells.chipset[rows[0]]), str(cells.model[rows[0]]), tuple(arms))


def explore(rankings: Rankings, budget: Budget | None = None, traffic: Numbers | None = None) -> Splits:
    """Split the traffic of every unit between its leader and the arms worth measuring.

    `traffic` is each unit's share of all traffic (units in order of `rankings`; None: equal). A unit's exploring share goes
    to the eligible arm of which a report is worth most, and grows with that worth: what the report tells of all classes
    that run the model counts (`ml.worth`).
    """
    budget = budget or Budget()
    units = len(rankings)
    weights = np.zeros(len(rankings.cells), dtype=np.intp)
    if not units:
        return Splits(rankings, weights)
    leader = rankings.leader
    eligible = eligible_arms(rankings, budget.cost_cap)
    gain = np.where(eligible, worth(rankings), -1.0)
    challenger = _first_of_each(rankings, gain)
    served = rankings.excluded[leader] == Exclusion.NONE.value
    choice = gain[challenger] >= 0
    value = np.where(choice, gain[challenger], 0.0)
    share = np.where(choice, budget.trickle_bp, 0) + _budgeted(value, budget, traffic)
    share = np.floor(np.minimum(share, budget.max_bp)).astype(np.intp)
    trickle = np.minimum(share, budget.trickle_bp)
    weights[leader[served]] = (FULL_BP - share)[served]
    np.add.at(weights, challenger[choice], (share - trickle)[choice])
    _spread(weights, rankings, eligible, np.where(choice, trickle, 0))
    return Splits(rankings, weights)


def explore_evenly(rankings: Rankings, budget: Budget) -> Splits:
    """What is compared with: the budget's mean share in every unit, spread evenly over the allowed arms but the leader."""
    weights = np.zeros(len(rankings.cells), dtype=np.intp)
    if not len(rankings):
        return Splits(rankings, weights)
    leader = rankings.leader
    others = rankings.excluded == Exclusion.NONE.value
    served = others[leader]
    others[leader] = False
    share = np.where(np.bincount(rankings.unit[others], minlength=len(rankings)) > 0, budget.mean_bp, 0)
    weights[leader[served]] = (FULL_BP - share)[served]
    _spread(weights, rankings, others, share)
    return Splits(rankings, weights)


def eligible_arms(rankings: Rankings, cost_cap: float) -> NDArray[np.bool_]:
    """Arms that may be tried: allowed, not the leader, and not predicted far worse even by their lower quantile.

    Where nothing is known the quantile is low, so that every allowed arm may be tried.
    """
    leader = rankings.leader[rankings.unit]
    lower = rankings.cost_ms * np.exp(-LOWER_Z * rankings.sd)
    allowed = (rankings.excluded == Exclusion.NONE.value) & (np.arange(len(leader)) != leader)
    return np.asarray(allowed & (lower <= cost_cap * rankings.cost_ms[leader]))


def likeliest_challenger(rankings: Rankings, eligible: NDArray[np.bool_]) -> Index:
    """The eligible arm most likely to be the best, by unit; -1 where there is none."""
    first = _first_of_each(rankings, np.where(eligible, rankings.best_probability, -1.0))
    return np.where(eligible[first], first, -1)


def _first_of_each(rankings: Rankings, value: Numbers) -> Index:
    """Row of highest value of each unit, the cheapest of equals."""
    order = np.lexsort((rankings.cost_ms, -value, rankings.unit))
    return order[rankings.starts[:-1]]


def _budgeted(value: Numbers, budget: Budget, traffic: Numbers | None) -> Numbers:
    """Basis points in proportion to value, so that their mean over traffic, trickle included, is the budget's.

    What a unit cannot take above its own maximum is offered to the others, a few times over.
    """
    weight = np.full(len(value), 1 / len(value)) if traffic is None else traffic / traffic.sum()
    room = np.full(len(value), float(max(budget.max_bp - budget.trickle_bp, 0)))
    share = np.zeros(len(value))
    for _ in range(8):
        left = max(budget.mean_bp - budget.trickle_bp, 0) - float(weight @ share)
        open_units = (share < room) & (value > 0)
        total = float(weight[open_units] @ value[open_units])
        if left < 1e-6 or total <= 0:
            break
        share = np.where(open_units, np.minimum(share + left * value / total, room), share)
    return share


def _spread(weights: Index, rankings: Rankings, eligible: NDArray[np.bool_], trickle: Index) -> None:
    """Add each unit's trickle to its eligible arms, evenly, the odd points to the likeliest."""
    count = np.bincount(rankings.unit[eligible], minlength=len(trickle))
    order = np.lexsort((-rankings.best_probability, ~eligible, rankings.unit))
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order)) - rankings.starts[rankings.unit[order]]
    each, odd = np.divmod(trickle, np.maximum(count, 1))
    unit = rankings.unit
    weights += np.where(eligible, each[unit] + (rank < odd[unit]), 0)
