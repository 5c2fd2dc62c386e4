"""Rankings: the arms of every device class and model in order of trial, with what speaks for and against each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ml.limits import Exclusion
from ml.posterior import Joint
from ml.table import Index, Numbers, Table


@dataclass(frozen=True)
class RankedArm:
    """One arm of one unit. `regret` is the expected cost over the best allowed arm, minus 1 and capped."""

    arm: str
    cost_ms: float
    latency_ms: float
    log_sd: float
    reports: int
    best_probability: float
    target_probability: float
    regret: float
    excluded: Exclusion


@dataclass(frozen=True)
class Ranking:
    """The allowed arms of a device class and model in order of trial, then those kept out, with their reasons.

    `measured`: whether any device has measured this model at all.
    """

    device_class: str
    model: str
    arms: tuple[RankedArm, ...]
    excluded: tuple[RankedArm, ...]
    measured: bool


@dataclass(frozen=True)
class Rankings:
    """All rankings as columns over the candidate cells; iterate for `Ranking` records.

    `cells` (n rows), `mean` and `sd` of log latency (log ms), `cost_ms`, `reports`, `best_probability`, `regret`,
    `target_probability` (NaN without a target), `excluded` (`Exclusion` values), `caution` (log cost that an arm pays in
    the order for doubt: of its latency, of a model or of a graph in pieces that nobody measured), `measured` (model),
    `unit` (n,) and `order`: row numbers, units together, best first, excluded last. `joints` makes the covariances of log
    latency across units (`Posterior.joints`), for whoever explores.
    """

    cells: Table
    mean: Numbers
    sd: Numbers
    cost_ms: Numbers
    reports: Index
    best_probability: Numbers
    regret: Numbers
    target_probability: Numbers
    excluded: NDArray[np.str_]
    caution: Numbers
    measured: NDArray[np.bool_]
    unit: Index
    order: Index
    joints: Callable[[], Iterable[Joint]]

    @cached_property
    def starts(self) -> Index:
        """Where each unit starts in `order`, with the end appended."""
        sizes = np.bincount(self.unit, minlength=int(self.unit.max(initial=-1)) + 1)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)

    @cached_property
    def leader(self) -> Index:
        """Row of each unit's first arm (an excluded one where every arm is excluded)."""
        return self.order[self.starts[:-1]]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[Ranking]:
        for start, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            yield self._ranking(self.order[start:end])

    def _ranking(self, rows: Index) -> Ranking:
        arms = [self._arm(row) for row in rows.tolist()]
        first = rows[0]
        return Ranking(
            str(self.cells.chipset[first]),
            str(self.cells.model[first]),
            tuple(arm for arm in arms if not arm.excluded),
            tuple(arm for arm in arms if arm.excluded),
            bool(self.measured[first]),
        )

    def _arm(self, row: int) -> RankedArm:
        return RankedArm(
            str(self.cells.arm[row]),
            float(self.cost_ms[row]),
            float(np.exp(self.mean[row])),
            float(self.sd[row]),
            int(self.reports[row]),
            float(self.best_probability[row]),
            float(self.target_probability[row]),
            float(self.regret[row]),
            Exclusion(str(self.excluded[row])),
        )
