"""What the fleet has taught about one device class: rankings of arms, as a release carries them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from policies.vocabulary import Workload

WHOLE_BP: Final = 10_000


@dataclass(frozen=True, slots=True)
class RankedArm:
    """An arm in its place. `expected_ms` of one run, `sd_log` of its logarithm, `n` windows it rests on."""

    arm: str
    expected_ms: float
    sd_log: float
    n: int


@dataclass(frozen=True, slots=True)
class ArmShare:
    """Who gets the arm first: `weight_bp` of 10,000 units."""

    arm: str
    weight_bp: int
    explore: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """Arms of one model on one device class for one workload, best first; and those that must not run, with why.

    Raises ValueError where shares are negative or sum to more than 10,000.
    """

    ranked: tuple[RankedArm, ...]
    shares: tuple[ArmShare, ...]
    excluded: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        weights = [share.weight_bp for share in self.shares]
        if min(weights, default=0) < 0 or sum(weights) > WHOLE_BP:
            raise ValueError(f"shares {weights} are no parts of {WHOLE_BP}")

    def to_json(self) -> dict[str, Any]:
        """Compact JSON, the inverse of `from_json`."""
        return {
            "ranked": [[r.arm, round(r.expected_ms, 4), round(r.sd_log, 4), r.n] for r in self.ranked],
            "shares": [[s.arm, s.weight_bp, s.explore] for s in self.shares],
            "excluded": dict(self.excluded),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """A ranking from `to_json`'s output."""
        return cls(
            tuple(RankedArm(*row) for row in raw["ranked"]),
            tuple(ArmShare(*row) for row in raw["shares"]),
            raw["excluded"],
        )


NOTHING_LEARNED: Final = Ranking((), ())


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Rankings by model name and workload. Empty for a class nobody has measured."""

    rankings: Mapping[str, Mapping[Workload, Ranking]] = field(default_factory=dict)

    @classmethod
    def from_json(cls, raw: Mapping[str, Mapping[str, Any]]) -> Self:
        """Knowledge from model → workload → `Ranking.to_json`."""
        return cls(
            {
                model: {Workload(workload): Ranking.from_json(ranking) for workload, ranking in by_workload.items()}
                for model, by_workload in raw.items()
            }
        )

    def ranking(self, model: str, workload: Workload) -> Ranking | None:
        """The ranking for the workload; a sustained one is never answered from bursts, nor the other way round."""
        return self.rankings.get(model, {}).get(workload)
