"""The evidence of a recommendation, typed: what `ml.gates.judge` finds and reviewers see."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ml.offpolicy import Estimate, Overlap


@dataclass(frozen=True)
class GateLimits:
    """Where a gate closes.

    most_rise_log : rise of the mean log cost that the doubt of an estimate may reach; worse_log : a ranking that
    gets another leader and whose expected log cost rises by more gets worse; most_worse : share of uses whose rankings may
    get worse; min_effective : uses, by effective number, below which an off-policy estimate closes no gate.
    """

    most_rise_log: float = 0.01
    worse_log: float = 0.05
    most_worse: float = 0.05
    min_effective: float = 100.0


@dataclass(frozen=True)
class Check:
    """One of the gate's questions: it holds while `value` is at most `limit`. `says` is a sentence for a person."""

    name: str
    value: float
    limit: float
    says: str

    @property
    def holds(self) -> bool:
        """Whether it lets the recommendation pass."""
        return self.value <= self.limit


@dataclass(frozen=True)
class Expectation:
    """What the model expects over all uses that are compared, with 95 % intervals.

    `regret_live`, `regret_new`: cost over the best arm's, minus 1. `log_change` is that of the mean log cost.
    """

    regret_live: float
    regret_new: float
    regret_change_95: tuple[float, float]
    log_change: float
    log_change_95: tuple[float, float]


@dataclass(frozen=True)
class RankingChange:
    """One ranking: who leads now and who would, expected cost of a run in ms under either weights, and their ratio.

    `uses`: the ranking's share of all uses that are compared.
    """

    stack: str
    model: str
    leads: str
    would_lead: str
    live_ms: float
    new_ms: float
    factor: float
    factor_95: tuple[float, float]
    uses: float


@dataclass(frozen=True)
class OffPolicy:
    """Estimates, from logged uses alone, of how much the mean log cost changes; and how far the log speaks of it."""

    overlap: Overlap
    estimates: tuple[Estimate, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "uses": self.overlap.uses, "effective": self.overlap.effective, "mean_weight": self.overlap.mean_weight,
            "estimates": {found.method: [found.log_cost, found.low, found.high] for found in self.estimates},
        }  # fmt: skip


@dataclass(frozen=True)
class Gate:
    """The evidence of a recommendation for its reviewer. Without a live ranking there is nothing to compare.

    `uses_changed`: share of uses that another arm would lead; `changes`: rankings with another leader, those with most uses
    first; `worse`: rankings that get worse, the worst first. Both are cut to twenty.
    """

    rankings: int
    rankings_compared: int
    checks: tuple[Check, ...] = ()
    expected: Expectation | None = None
    uses_changed: float | None = None
    changes: tuple[RankingChange, ...] = ()
    worse: tuple[RankingChange, ...] = ()
    off_policy: OffPolicy | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it should not go out as it is; empty if it may."""
        return tuple(check.says for check in self.checks if not check.holds)

    def to_json(self) -> dict[str, Any]:
        """Plain values, as `docs/findings.md` describes them."""
        return {
            "passes": not self.reasons,
            "reasons": list(self.reasons),
            "checks": [asdict(check) | {"holds": check.holds} for check in self.checks],
            "rankings": self.rankings,
            "rankings_compared": self.rankings_compared,
            "expected": asdict(self.expected) if self.expected else None,
            "uses_changed": self.uses_changed,
            "changes": [asdict(change) for change in self.changes],
            "worse": [asdict(change) for change in self.worse],
            "off_policy": self.off_policy.to_json() if self.off_policy else None,
        }
