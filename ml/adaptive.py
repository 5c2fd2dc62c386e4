"""Protocol `adaptive`: a fleet that starts knowing nothing, reports with noise, and explores within its budget.

In each round every unit (chipset, model) gets the same expected number of reports; an arm is drawn from the weights
served, and reports the measured latency times noise. Judged are the leaders at the end, and what the whole way cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ml.explore import FULL_BP, Budget, explore
from ml.metrics import Choices, Row, summary
from ml.protocols import hidden
from ml.recommend import recommend
from ml.table import Index, Numbers, Table

REPORTS_A_UNIT: Final = (1.2, 2.4)
ROUNDS: Final = 6
NOISE: Final = ((0.92, 0.04), (0.08, 0.25))
"""Share and sd of log noise of a report."""
GREEDY_EXPLORES: Final = 0.1
BUDGET: Final = Budget(mean_bp=1_000, max_bp=5_000, trickle_bp=50)


@dataclass(frozen=True)
class Reports:
    """Sum and count of reported log latencies by cell."""

    log_sum: Numbers
    count: Index

    @property
    def log_mean(self) -> Numbers:
        """Mean reported log latency; NaN where nobody reported."""
        return np.where(self.count > 0, self.log_sum / np.maximum(self.count, 1), np.nan)


Policy = Callable[[Table, Reports, int], tuple[Numbers, Index]]
"""Cells, reports and seed → weight of every cell (they sum to 1 in each unit), and each unit's leading row."""


def with_model(cells: Table, reports: Reports, seed: int) -> tuple[Numbers, Index]:
    """Our rankings and weights."""
    seen = reports.count > 0
    observations = replace(cells.take(seen), latency_ms=np.exp(reports.log_mean[seen]))
    rankings = recommend(observations, cells, reports=reports.count[seen], random_state=seed)
    return explore(rankings, BUDGET).weight_bp / FULL_BP, rankings.leader


def epsilon_greedy(cells: Table, reports: Reports, seed: int) -> tuple[Numbers, Index]:
    """No model: the lowest mean report of the unit leads (before any: a random arm), one use in ten is any arm."""
    unit = cells.units()
    tie = np.random.default_rng(seed).random(len(unit))
    order = np.lexsort((tie, reports.log_mean, unit))  # NaN sorts last
    leader = order[np.flatnonzero(np.diff(unit[order], prepend=-1))]
    weight = GREEDY_EXPLORES / np.bincount(unit)[unit]
    weight[leader] += 1 - GREEDY_EXPLORES
    return weight, leader


POLICIES: Final[dict[str, Policy]] = {"nnfleet": with_model, "ε-greedy without a model": epsilon_greedy}


def run_adaptive(table: Table, seeds: int, say: Callable[[str], None]) -> list[Row]:
    """Rows for every amount of reports and every policy, pooled over seeds."""
    rows = []
    for amount in REPORTS_A_UNIT:
        for name, policy in POLICIES.items():
            choices, excess = [], []
            for seed in range(seeds):
                say(f"adaptive, {amount} reports a unit, {name}, seed {seed}")
                chosen, cost = _play(table, policy, amount, seed)
                choices.append(chosen)
                excess.append(cost)
            setting = f"{amount} reports a unit"
            cost = float(np.mean(excess))
            rows.append(Row("adaptive", setting, name, seeds, cumulative_excess=cost, **summary(choices)))
    return rows


def _play(table: Table, policy: Policy, amount: float, seed: int) -> tuple[Choices, float]:
    """The leaders' choices after all rounds, and the excess regret per unit summed over the reports."""
    rng = np.random.default_rng(seed)
    cells, unit = hidden(table), table.units()
    best_ms = np.full(int(unit.max()) + 1, np.inf)
    np.minimum.at(best_ms, unit, table.latency_ms)
    reports, excess = Reports(np.zeros(len(table)), np.zeros(len(table), np.intp)), 0.0
    for turn in range(ROUNDS):
        weight, _ = policy(cells, reports, seed + turn)
        drawn = rng.poisson(weight * amount / ROUNDS)
        excess += float((drawn * (table.latency_ms / best_ms[unit] - 1)).sum())
        rows = np.repeat(np.arange(len(table)), drawn)
        heard = table.log_ms[rows] + _noise(len(rows), rng)
        reports = Reports(reports.log_sum + np.bincount(rows, heard, len(table)), reports.count + drawn)
    _, leader = policy(cells, reports, seed + ROUNDS)
    return Choices(table.latency_ms[leader], best_ms[unit[leader]]), excess / len(best_ms)


def _noise(count: int, rng: np.random.Generator) -> Numbers:
    (calm_share, calm), (_, rough) = NOISE
    return np.where(rng.random(count) < calm_share, calm, rough) * rng.standard_normal(count)
