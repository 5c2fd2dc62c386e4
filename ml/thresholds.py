"""The thresholds of the out-of-the-box rule, re-estimated from the fleet: where a delegate starts to beat the CPU.

The rule leads with an accelerator from `lead_coverage` on, runs on the CPU up to `cpu_coverage`, and in between leads only
where the cuts take at most `cut_cost_share` of the run. What it costs on a pair (an accelerator's arm and the CPU's arm of
the same file on the same SoC) is the log latency over the better of the two. Each threshold is moved alone, the others
standing at their defaults, to where the mean cost is least; its interval is the bootstrap's over models, for pairs of one
model are alike. The default stays where pairs are few, or where the interval holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from ml.findings.pairs import by_soc, cpu_cells, file_key
from ml.rollup import CellSummary, Rollup
from ml.table import Index, Numbers
from policies.document import Thresholds

DEFAULT: Final = Thresholds()
GRIDS: Final[Mapping[str, Numbers]] = MappingProxyType(
    {
        "lead_coverage": np.round(np.arange(0.5, 1.0001, 0.025), 3),
        "cpu_coverage": np.round(np.arange(0.3, 0.9501, 0.025), 3),
        "cut_cost_share": np.array([0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0]),
    }
)
"""What is tried, by the threshold's name in `policies.document`."""

MIN_PARTIAL: Final = 30
MIN_MODELS: Final = 8
"""Pairs that a threshold decides about, and models among them, below which nothing is concluded."""
DRAWS: Final = 400


@dataclass(frozen=True)
class Threshold:
    """`value` is to be used: the estimate where `moved`, else the default. `low`, `high`: 95 % interval.

    `pairs` that the threshold decides about.
    """

    name: str
    default: float
    value: float
    estimate: float | None
    low: float | None
    high: float | None
    pairs: int

    @property
    def moved(self) -> bool:
        """Whether the fleet's data say that the default is wrong."""
        return self.value != self.default

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "value": self.value, "default": self.default, "estimate": self.estimate,
            "interval_95": [self.low, self.high], "pairs": self.pairs,
        }  # fmt: skip


@dataclass(frozen=True)
class Pairs:
    """Columns of n pairs: `coverage`, `cut_share` of the latency target that the cuts are thought to take, `log_ratio`
    (accelerator over CPU) and the number of the `model`.
    """

    coverage: Numbers
    cut_share: Numbers
    log_ratio: Numbers
    model: Index


def partial_pairs(
    rollups: Iterable[Rollup], soc_of: Mapping[str, str], targets_ms: Mapping[tuple[str, str], float]
) -> Pairs:
    """Measured arms that a delegate took in part, with the CPU's arm of the same file. `targets_ms` by app and model."""
    cells = by_soc(rollups, soc_of)
    cpu = cpu_cells(cells)
    rows = [
        (
            summary.delegated_share,
            _cut_share(summary, targets_ms[cell.app, cell.model]),
            summary.log_p50_us - cpu[file_key(cell)].log_p50_us,
            f"{cell.app}/{cell.model}",
        )
        for cell, summary in cells.items()
        if summary.delegated_share is not None
        and 0 < summary.delegated_share < 1
        and file_key(cell) in cpu
        and (cell.app, cell.model) in targets_ms
    ]
    model = np.unique([name for *_, name in rows], return_inverse=True)[1].astype(np.intp)
    share, cuts, ratio = (np.array([row[column] for row in rows], dtype=np.float64) for column in range(3))
    return Pairs(share, cuts, ratio, model)


def thresholds(pairs: Pairs, seed: int = 0) -> dict[str, Threshold]:
    """All thresholds by name."""
    return {name: threshold(name, pairs, seed) for name in GRIDS}


def threshold(name: str, pairs: Pairs, seed: int = 0) -> Threshold:
    """One threshold, the others standing at their defaults."""
    default, grid = float(getattr(DEFAULT, name)), GRIDS[name]
    leads = np.stack(list(_leads(name, pairs)), axis=1)
    decided = leads.any(axis=1) & ~leads.all(axis=1)
    count, models = int(decided.sum()), len(np.unique(pairs.model[decided]))
    if count < MIN_PARTIAL or models < MIN_MODELS:
        return Threshold(name, default, default, None, None, None, count)
    cost = _cost_by_model(pairs.log_ratio[decided], leads[decided], pairs.model[decided])
    drawn = np.random.default_rng(seed).multinomial(models, np.full(models, 1 / models), DRAWS)
    estimate = _least(cost.sum(axis=0), grid)
    low, high = np.quantile([_least(weights @ cost, grid) for weights in drawn], [0.025, 0.975]).tolist()
    value = default if low <= default <= high else estimate
    return Threshold(name, default, value, estimate, low, high, count)


def _leads(name: str, pairs: Pairs) -> Iterator[np.ndarray]:
    """Whether the rule leads with the accelerator of each pair, at every value of the grid."""
    for value in GRIDS[name].tolist():
        rule = {known: float(getattr(DEFAULT, known)) for known in GRIDS} | {name: value}
        affordable = (pairs.coverage > rule["cpu_coverage"]) & (pairs.cut_share <= rule["cut_cost_share"])
        yield (pairs.coverage >= rule["lead_coverage"]) | affordable


def _cut_share(summary: CellSummary, target_ms: float) -> float:
    """As the rule reckons before anything is measured: every piece is entered and left."""
    return 2 * (summary.partitions or 1.0) * DEFAULT.cut_cost_ms / target_ms


def _cost_by_model(log_ratio: Numbers, leads: np.ndarray, model: Index) -> Numbers:
    """Summed log cost over the better arm, (models, values of the grid)."""
    cost = np.where(leads, np.maximum(log_ratio, 0.0)[:, None], np.maximum(-log_ratio, 0.0)[:, None])
    number = np.unique(model, return_inverse=True)[1]
    total = np.zeros((int(number.max()) + 1, leads.shape[1]))
    np.add.at(total, number, cost)
    return total


def _least(cost: Numbers, grid: Numbers) -> float:
    """The value of least cost; of equals the one in the middle."""
    return float(grid[np.flatnonzero(cost <= cost.min() + 1e-9)].mean())
