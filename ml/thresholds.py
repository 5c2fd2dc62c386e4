"""The out-of-the-box coverage threshold, re-estimated from the fleet: where the delegate starts to beat the CPU.

The rule leads with an accelerator from a coverage t on, and with the CPU below. Its cost on a pair (an accelerator's arm
and the CPU's arm of the same file on the same SoC) is the log latency over the better of the two. The threshold is the t
with the least mean cost; its interval is the bootstrap's over models, for pairs of one model are alike. The default
stays where pairs are few, or where the interval holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ml.findings.pairs import by_soc, cpu_cells, file_key
from ml.rollup import Rollup
from ml.table import Index, Numbers

DEFAULT_LEAD: Final = 0.95
"""As in `policies.document`: at least this much coverage lets an accelerator lead."""

GRID: Final = np.round(np.arange(0.5, 1.0001, 0.025), 3)
MIN_PARTIAL: Final = 30
MIN_MODELS: Final = 8
"""Pairs with coverage between none and all, and models among them, below which nothing is concluded."""
DRAWS: Final = 400


@dataclass(frozen=True)
class Threshold:
    """`value` is to be used: the estimate where `moved`, else the default. `low`, `high`: 95 % interval."""

    value: float
    estimate: float | None
    low: float | None
    high: float | None
    pairs: int

    @property
    def moved(self) -> bool:
        """Whether the fleet's data say that the default is wrong."""
        return self.value != DEFAULT_LEAD

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "value": self.value, "default": DEFAULT_LEAD, "estimate": self.estimate, "interval_95": [self.low, self.high],
            "pairs": self.pairs,
        }  # fmt: skip


@dataclass(frozen=True)
class Pairs:
    """Columns of n pairs: `coverage`, `log_ratio` (accelerator over CPU) and the number of the `model`."""

    coverage: Numbers
    log_ratio: Numbers
    model: Index


def partial_pairs(rollups: Iterable[Rollup], soc_of: Mapping[str, str]) -> Pairs:
    """Measured arms that a delegate took in part, with the CPU's arm of the same file."""
    cells = by_soc(rollups, soc_of)
    cpu = cpu_cells(cells)
    rows = [
        (summary.delegated_share, summary.log_p50_us - cpu[file_key(cell)].log_p50_us, f"{cell.app}/{cell.model}")
        for cell, summary in cells.items()
        if summary.delegated_share is not None and 0 < summary.delegated_share < 1 and file_key(cell) in cpu
    ]
    model = np.unique([name for *_, name in rows], return_inverse=True)[1].astype(np.intp)
    return Pairs(np.array([share for share, *_ in rows]), np.array([ratio for _, ratio, _ in rows]), model)


def lead_coverage(pairs: Pairs, seed: int = 0) -> Threshold:
    """The threshold from which an accelerator should lead."""
    count = len(pairs.coverage)
    models = int(pairs.model.max(initial=-1)) + 1
    if count < MIN_PARTIAL or models < MIN_MODELS:
        return Threshold(DEFAULT_LEAD, None, None, None, count)
    cost = _cost_by_model(pairs, models)
    drawn = np.random.default_rng(seed).multinomial(models, np.full(models, 1 / models), DRAWS)
    estimate = _least(cost.sum(axis=0))
    low, high = np.quantile([_least(weights @ cost) for weights in drawn], [0.025, 0.975]).tolist()
    value = DEFAULT_LEAD if low <= DEFAULT_LEAD <= high else estimate
    return Threshold(value, estimate, low, high, count)


def _cost_by_model(pairs: Pairs, models: int) -> Numbers:
    """Summed log cost over the better arm, (models, thresholds)."""
    leads = pairs.coverage[:, None] >= GRID[None, :]
    cost = np.where(leads, np.maximum(pairs.log_ratio, 0.0)[:, None], np.maximum(-pairs.log_ratio, 0.0)[:, None])
    total = np.zeros((models, len(GRID)))
    np.add.at(total, pairs.model, cost)
    return total


def _least(cost: Numbers) -> float:
    """The threshold of least cost; of equals the one in the middle."""
    return float(GRID[np.flatnonzero(cost <= cost.min() + 1e-9)].mean())
