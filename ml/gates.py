"""What a recommendation would change against the live release, and whether it may be put up for review as it is.

Two judges, for each has a blind side. The model's own expectation covers every ranking and believes itself; off-policy
estimates believe only what was measured under the live release's weights, and see only arms that those gave a chance.
A ranking is that of a model on a driver stack; it counts as much as its share of all uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.stats import norm

from ml.explore import Splits
from ml.gate_evidence import Check, Expectation, Gate, GateLimits, OffPolicy, RankingChange
from ml.offpolicy import Logged, doubly_robust, ips, overlap, snips
from ml.rankings import Rankings
from ml.table import Index, Numbers

Live = Mapping[tuple[str, str], Mapping[str, int]]
"""(driver stack, model label) → arm → weight in basis points, as the live release serves them."""

MOST_NAMED: Final = 20
Z_95: Final = float(norm.ppf(0.975))


def judge(
    splits: Splits,
    live: Live,
    logged: Logged | None = None,
    uses: Mapping[tuple[str, str], int] | None = None,
    limits: GateLimits | None = None,
) -> Gate:
    """Judge new weights against the live ones.

    `logged`: uses under the live weights with `target` of the new ones. `uses`: how many uses each ranking had (None: all
    the same).
    """
    limits = limits or GateLimits()
    compared = _Compared.of(splits, live, uses)
    found = Gate(len(splits.rankings), int(compared.marked.sum()))
    checks: list[Check] = []
    if compared.share.any():
        changes = compared.changes()
        # What exploring costs under the same leader is the budget's to bound, and stands in the expectation.
        moved = [change for change in changes if change.leads != change.would_lead]
        worse = [change for change in moved if np.log(change.factor) > limits.worse_log]
        expected = compared.expectation()
        checks += [_expected_check(expected, limits), _worse_check(worse, limits)]
        found = replace(
            found,
            expected=expected,
            uses_changed=sum(change.uses for change in moved),
            changes=tuple(sorted(moved, key=lambda change: -change.uses)[:MOST_NAMED]),
            worse=tuple(sorted(worse, key=lambda change: -change.factor)[:MOST_NAMED]),
        )
    if logged is not None:
        off_policy = _off_policy(logged)
        checks += _off_policy_checks(off_policy, limits)
        found = replace(found, off_policy=off_policy)
    return replace(found, checks=tuple(checks))


@dataclass(frozen=True)
class _Compared:
    """Live and new weights of every cell (n,), each ranking's adding up to 1; `share` of all uses by ranking, 0 if not compared."""

    rankings: Rankings
    live: Numbers
    new: Numbers
    share: Numbers

    @classmethod
    def of(cls, splits: Splits, live: Live, uses: Mapping[tuple[str, str], int] | None) -> _Compared:
        rankings = splits.rankings
        cells = rankings.cells
        keys = zip(cells.chipset.tolist(), cells.model.tolist(), cells.arm.tolist(), strict=True)
        stated = np.array([live.get((stack, model), {}).get(arm, 0) for stack, model, arm in keys], dtype=np.float64)
        old, new = _per_ranking(rankings, stated), _per_ranking(rankings, splits.weight_bp.astype(np.float64))
        both = (np.bincount(rankings.unit, old, len(rankings)) > 0) & (
            np.bincount(rankings.unit, new, len(rankings)) > 0
        )
        first = rankings.leader
        names = zip(cells.chipset[first].tolist(), cells.model[first].tolist(), strict=True)
        traffic = np.array([1.0 if uses is None else uses.get(name, 0) for name in names], dtype=np.float64) * both
        total = traffic.sum()
        return cls(rankings, old, new, traffic / total if total else traffic)

    @property
    def marked(self) -> np.ndarray:
        """Marks the rankings that are compared."""
        return self.share > 0

    def expectation(self) -> Expectation:
        """Over all uses, arms taken as independent."""
        regret, change = self.rankings.regret, self._difference(np.log(self.rankings.cost_ms))
        regret_change = float(self.share @ self._difference(regret))
        regret_half = Z_95 * self._sd((1 + regret) * self.rankings.sd)
        log_change, log_half = float(self.share @ change), Z_95 * self._sd(self.rankings.sd)
        return Expectation(
            self._mean(self.live * regret),
            self._mean(self.new * regret),
            (regret_change - regret_half, regret_change + regret_half),
            log_change,
            (log_change - log_half, log_change + log_half),
        )

    def changes(self) -> list[RankingChange]:
        """Every ranking that is compared."""
        rankings, log_cost = self.rankings, np.log(self.rankings.cost_ms)
        old, new = (self._sum(weight * log_cost) for weight in (self.live, self.new))
        half = Z_95 * np.sqrt(self._sum(((self.new - self.live) * rankings.sd) ** 2))
        leads, would_lead = _heaviest(rankings, self.live), _heaviest(rankings, self.new)
        return [
            RankingChange(
                stack=str(rankings.cells.chipset[leads[at]]),
                model=str(rankings.cells.model[leads[at]]),
                leads=str(rankings.cells.arm[leads[at]]),
                would_lead=str(rankings.cells.arm[would_lead[at]]),
                live_ms=float(np.exp(old[at])),
                new_ms=float(np.exp(new[at])),
                factor=float(np.exp(new[at] - old[at])),
                factor_95=(
                    float(np.exp(new[at] - old[at] - half[at])),
                    float(np.exp(new[at] - old[at] + half[at])),
                ),
                uses=float(self.share[at]),
            )
            for at in np.flatnonzero(self.marked).tolist()
        ]

    def _difference(self, value: Numbers) -> Numbers:
        return self._sum((self.new - self.live) * value)

    def _sd(self, sd: Numbers) -> float:
        """Standard deviation of the mean over uses of what changes, `sd` being that of each arm."""
        return float(np.sqrt((self.share**2) @ self._sum(((self.new - self.live) * sd) ** 2)))

    def _mean(self, value: Numbers) -> float:
        return float(self.share @ self._sum(value))

    def _sum(self, value: Numbers) -> Numbers:
        return np.asarray(np.bincount(self.rankings.unit, value, len(self.rankings)), dtype=np.float64)


def _per_ranking(rankings: Rankings, weight: Numbers) -> Numbers:
    """Weights of each ranking adding up to 1, or to 0 where it has none."""
    total = np.bincount(rankings.unit, weight, len(rankings))[rankings.unit]
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def _heaviest(rankings: Rankings, weight: Numbers) -> Index:
    """Row of the heaviest arm of each ranking."""
    return np.asarray(np.lexsort((-weight, rankings.unit))[rankings.starts[:-1]])


def _percent(log_change: float) -> str:
    """A change of log cost for a reader, with the sign for minus that print uses."""
    return f"{np.expm1(log_change):+.1%}".replace("-", "−")


def _expected_check(expected: Expectation, limits: GateLimits) -> Check:
    high = expected.log_change_95[1]
    says = f"by the model's own expectation the mean cost changes by {_percent(expected.log_change)}, at most {_percent(high)}"
    return Check("expected-cost", high, limits.most_rise_log, says)


def _worse_check(worse: list[RankingChange], limits: GateLimits) -> Check:
    share = sum(change.uses for change in worse)
    says = f"{share:.1%} of uses would cost over {np.expm1(limits.worse_log):.0%} more, in {len(worse)} rankings"
    return Check("rankings-worse", share, limits.most_worse, says)


def _off_policy_checks(found: OffPolicy, limits: GateLimits) -> Iterator[Check]:
    """Nothing where the log says too little of the new weights."""
    if found.overlap.effective >= limits.min_effective:
        robust = next(estimate for estimate in found.estimates if estimate.method == "dr")
        says = f"measured uses say that the mean cost changes by {_percent(robust.log_cost)}, at least {_percent(robust.low)}"
        yield Check("off-policy-cost", robust.low, limits.most_rise_log, says)


def _off_policy(logged: Logged) -> OffPolicy:
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
    return OffPolicy(extent, tuple(found))
