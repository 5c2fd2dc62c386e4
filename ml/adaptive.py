"""Protocol `adaptive`: a fleet that starts knowing nothing, and a budget of devices that explore in each round.

One use in ten explores: it runs the arm of the unit (chipset, model) that a policy sends it to, and reports the measured
latency times noise. All others run their unit's leader. Judged are the leaders after 1.2 and 2.4 reports a unit, and what
the whole way cost: the excess over the best arm, exploring included, summed over the rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ml.adaptive_policies import POLICIES, Policy
from ml.metrics import Choices, Row, summary
from ml.protocols import hidden
from ml.reports import Reports
from ml.table import Numbers, Table

EXPLORING_SHARE: Final = 0.1
"""Reports a unit and round; the share of uses that explore."""
ROUNDS: Final = 24
JUDGED_AFTER: Final = (12, 24)
NOISE: Final = ((0.92, 0.04), (0.08, 0.25))
"""Share and sd of log noise of a report."""


@dataclass(frozen=True)
class Round:
    """State after `number` rounds: what the leaders chosen now come to, and the cost so far (mean excess a unit)."""

    number: int
    choices: Choices
    cost: float

    @property
    def reports_a_unit(self) -> float:
        """Reports heard so far."""
        return self.number * EXPLORING_SHARE


def run_adaptive(table: Table, seeds: int, say: Callable[[str], None]) -> list[Row]:
    """Rows for every amount of reports and every policy, pooled over seeds."""
    ends: dict[tuple[int, str], list[Round]] = {}
    for seed in range(seeds):
        for name, make in POLICIES.items():
            for after in play(table, make, seed):
                if after.number in JUDGED_AFTER:
                    say(f"adaptive, seed {seed}, {name}, {after.reports_a_unit:.1f} reports a unit")
                    ends.setdefault((after.number, name), []).append(after)
    return [_row(name, rounds, seeds) for (_, name), rounds in sorted(ends.items(), key=lambda end: end[0][0])]


def play(table: Table, make: Callable[[Table, int], Policy], seed: int, rounds: int = ROUNDS) -> Iterator[Round]:
    """The rounds of one policy: its leaders serve, its probes report. The same seed draws the same noise for all."""
    rng = np.random.default_rng(seed)
    policy, unit = make(hidden(table), seed), table.units()
    best_ms = np.full(int(unit.max()) + 1, np.inf)
    np.minimum.at(best_ms, unit, table.latency_ms)
    excess = table.latency_ms / best_ms[unit] - 1
    probes = max(1, round(EXPLORING_SHARE * len(best_ms)))
    reports, cost = Reports.none(), 0.0
    for number in range(rounds + 1):
        leader = policy.learn(reports)
        yield Round(number, Choices(table.latency_ms[leader], best_ms), cost)
        probed = policy.probe(probes, rng)
        served, explored = float(excess[leader].mean()), float(excess[probed].mean())
        cost += (1 - EXPLORING_SHARE) * served + EXPLORING_SHARE * explored
        reports = reports.heard(probed, table.log_ms[probed] + _noise(len(probed), rng))


def _row(policy: str, rounds: list[Round], seeds: int) -> Row:
    over = [int((after.choices.regret > 2).sum()) for after in rounds]
    cost = float(np.mean([after.cost for after in rounds]))
    setting = f"{rounds[0].reports_a_unit:.1f} reports a unit"
    chosen = summary([after.choices for after in rounds])
    return Row("adaptive", setting, policy, seeds, cumulative_excess=cost, stuck=max(over), **chosen)


def _noise(count: int, rng: np.random.Generator) -> Numbers:
    (calm_share, calm), (_, rough) = NOISE
    return np.where(rng.random(count) < calm_share, calm, rough) * rng.standard_normal(count)
