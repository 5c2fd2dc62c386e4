"""What a recommendation would change against the live release, and whether it may be put up for review as it is.

Two judges, for each has a blind side. The model's own expectation covers every unit and believes itself; off-policy
estimates believe only what was measured under the live release's weights, and see only arms that those gave a chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy.stats import norm

from ml.explore import FULL_BP, Splits
from ml.offpolicy import Logged, doubly_robust, ips, overlap, snips
from ml.rankings import Rankings
from ml.table import Index, Numbers

Live = Mapping[tuple[str, str], Mapping[str, int]]
"""(driver stack, model label) → arm → weight in basis points, as the live release serves them."""

WORSE_LOG: Final = 0.05
"""A unit whose expected log cost rises by more than this is named."""
MOST_NAMED: Final = 20
TOLERATED_LOG: Final = 0.01
"""Rise of the mean log cost that the doubt of an estimate may reach before the gate closes."""
MIN_EFFECTIVE: Final = 100.0
"""Uses, by effective number, below which an off-policy estimate closes no gate."""


@dataclass(frozen=True)
class Gate:
    """Figures of a recommendation for its reviewer; `reasons` says why it should not be published, empty if it may."""

    figures: Mapping[str, Any]
    reasons: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**self.figures, "passes": not self.reasons, "reasons": list(self.reasons)}


def judge(splits: Splits, live: Live, logged: Logged | None = None) -> Gate:
    """Judge new weights against the live ones. `logged`: uses under the live weights with `target` of the new ones."""
    rankings = splits.rankings
    old = _live_weights(rankings, live)
    compared = np.bincount(rankings.unit, old, len(rankings)) > 0
    figures: dict[str, Any] = {"units": len(rankings), "units_compared": int(compared.sum())}
    reasons: list[str] = []
    if compared.any():
        change, error = _change(rankings, splits.weight_bp / FULL_BP - old, compared)
        figures |= _expected(change[compared], error[compared], reasons)
        figures["leader_changes"] = float((_leader(rankings, old) != rankings.leader)[compared].mean())
        figures["worse"] = _worse(rankings, np.where(compared, change, -np.inf))
    if logged is not None:
        figures["off_policy"] = _off_policy(logged, reasons)
    return Gate(figures, tuple(reasons))


def _live_weights(rankings: Rankings, live: Live) -> Numbers:
    """Live weight of every cell, those of a unit adding up to 1 or, without a live ranking, to 0."""
    cells = rankings.cells
    keys = zip(cells.chipset.tolist(), cells.model.tolist(), cells.arm.tolist(), strict=True)
    weight = np.array([live.get((stack, model), {}).get(arm, 0) for stack, model, arm in keys], dtype=np.float64)
    total = np.bincount(rankings.unit, weight, len(rankings))[rankings.unit]
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def _change(rankings: Rankings, difference: Numbers, compared: np.ndarray) -> tuple[Numbers, Numbers]:
    """Expected change of each unit's log cost, and its standard deviation with arms taken as independent."""
    gain = np.where(compared[rankings.unit], difference, 0.0)
    change = np.bincount(rankings.unit, gain * np.log(rankings.cost_ms), len(rankings)).astype(np.float64)
    return change, np.sqrt(np.bincount(rankings.unit, (gain * rankings.sd) ** 2, len(rankings)))


def _expected(change: Numbers, error: Numbers, reasons: list[str]) -> dict[str, Any]:
    mean, doubt = float(change.mean()), float(np.sqrt((error**2).sum()) / len(error))
    half = float(norm.ppf(0.975)) * doubt
    if mean + half > TOLERATED_LOG:
        reasons.append(f"the mean log cost may rise by {mean + half:.3f} by the model's own expectation")
    return {"log_change": mean, "log_change_95": [mean - half, mean + half]}


def _leader(rankings: Rankings, weight: Numbers) -> Index:
    """Row of the heaviest arm of each unit."""
    order = np.lexsort((-weight, rankings.unit))
    return np.asarray(order[rankings.starts[:-1]])


def _worse(rankings: Rankings, change: Numbers) -> list[dict[str, Any]]:
    rows = rankings.leader
    named = [unit for unit in np.argsort(-change).tolist()[:MOST_NAMED] if change[unit] > WORSE_LOG]
    return [
        {
            "stack": str(rankings.cells.chipset[rows[unit]]),
            "model": str(rankings.cells.model[rows[unit]]),
            "leader": str(rankings.cells.arm[rows[unit]]),
            "factor": float(np.exp(change[unit])),
        }
        for unit in named
    ]


def _off_policy(logged: Logged, reasons: list[str]) -> dict[str, Any]:
    """How the new weights' mean log cost differs from what was logged, estimated from the uses alone."""
    usual = float(logged.log_cost.mean())
    centred = replace(
        logged,
        log_cost=logged.log_cost - usual,
        predicted=logged.predicted - usual,
        expected=logged.expected - usual,
    )
    extent = overlap(centred)
    found = [ips(centred), doubly_robust(centred)] + ([snips(centred)] if extent.effective else [])
    robust = next(estimate for estimate in found if estimate.method == "dr")
    if extent.effective >= MIN_EFFECTIVE and robust.low > TOLERATED_LOG:
        reasons.append(f"measured uses say that the mean log cost rises by {robust.low:.3f} or more")
    return {
        "uses": extent.uses,
        "effective": extent.effective,
        "mean_weight": extent.mean_weight,
        "estimates": {estimate.method: [estimate.log_cost, estimate.low, estimate.high] for estimate in found},
    }
