"""Regret and what is reported of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ml.table import Index, Numbers

TARGET_MS: Final = 33.3
"""Latency target of `target_attainment`: thirty frames a second."""


@dataclass(frozen=True)
class Choices:
    """Outcome of one choice a unit: `chosen_ms` of the arm chosen and `best_ms` of the best one."""

    chosen_ms: Numbers
    best_ms: Numbers

    @property
    def regret(self) -> Numbers:
        """Chosen ÷ best, at least 1."""
        return self.chosen_ms / self.best_ms


@dataclass(frozen=True)
class Row:
    """One line of an evaluation: a method under a protocol's setting, pooled over seeds.

    `mean`, `p95` of regret; `top1`, `within_1_1`, `over_2`: shares of units with the best arm chosen, at most 1.1 ×,
    over 2 ×. `target_attainment`: units at or under 33.3 ms among those that could be. `interval_80`, `interval_95`:
    share of readings inside; None where the method states no interval. Protocol `adaptive`: `cumulative_excess`, mean
    excess regret summed over rounds, exploring included, and `stuck`, units over 2 × in the seed that has most.
    """

    protocol: str
    setting: str
    method: str
    seeds: int
    units: int
    mean: float
    p95: float
    top1: float
    within_1_1: float
    over_2: float
    target_attainment: float | None = None
    interval_80: float | None = None
    interval_95: float | None = None
    cumulative_excess: float | None = None
    stuck: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; fields without a value are left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def choose(log_ms: Numbers, score: Numbers, unit: Index, judged: NDArray[np.bool_]) -> Choices:
    """The arm of lowest score of every unit with judged rows, against its best arm."""
    log_ms, score, unit = log_ms[judged], score[judged], unit[judged]
    by_score = np.lexsort((score, unit))
    by_truth = np.lexsort((log_ms, unit))
    starts = np.flatnonzero(np.diff(unit[by_score], prepend=-1))
    return Choices(np.exp(log_ms[by_score[starts]]), np.exp(log_ms[by_truth[starts]]))


def summary(choices: list[Choices]) -> dict[str, Any]:
    """Fields of a `Row` that choices decide."""
    chosen = np.concatenate([part.chosen_ms for part in choices])
    best = np.concatenate([part.best_ms for part in choices])
    regret = chosen / best
    could = best <= TARGET_MS
    return {
        "units": len(regret),
        "mean": float(regret.mean()),
        "p95": float(np.quantile(regret, 0.95)),
        "top1": float((regret < 1.0001).mean()),
        "within_1_1": float((regret <= 1.1).mean()),
        "over_2": float((regret > 2).mean()),
        "target_attainment": float((chosen[could] <= TARGET_MS).mean()) if could.any() else None,
    }
