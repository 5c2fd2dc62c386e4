"""Who leads each ranking of a learning run (driver stack × model), against those of the live release. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from policies.knowledge import RankedArm, Ranking
from policies.vocabulary import Workload
from service.releasing.release_content import Rankings

Z_95: Final = 1.959964
_BURST: Final = Workload.BURST.value


@dataclass(frozen=True, slots=True)
class Leader:
    """Who leads a ranking of short bursts. `before`: who leads it in the live release, None where nobody does.

    `factor`: what the new leader takes of the old one's time, by this run; None where the old one is not ranked.
    """

    stack: str
    app: str
    model: str
    arm: str
    expected_ms: float
    sd_log: float
    n: int
    share_bp: int
    explored_bp: int
    arms: int
    before: str | None
    factor: float | None

    @property
    def change(self) -> str:
        """What becomes of the ranking: "new", "leads anew" or "stays"."""
        if self.before is None:
            return "new"
        return "stays" if self.before == self.arm else "leads anew"

    @property
    def low_ms(self) -> float:
        """The lower end of the 95 % interval."""
        return self.expected_ms * math.exp(-Z_95 * self.sd_log)

    @property
    def high_ms(self) -> float:
        """The upper end of the 95 % interval."""
        return self.expected_ms * math.exp(Z_95 * self.sd_log)


def leaders(learned: Rankings, live: Rankings) -> Iterator[Leader]:
    """Of every ranking that has one."""
    for stack, apps in learned.items():
        standing = live.get(stack, {})
        for app, models in apps.items():
            for model, by_workload in models.items():
                raw = by_workload.get(_BURST, {})
                if raw.get("ranked"):
                    yield _leader((stack, app, model), raw, standing.get(app, {}).get(model, {}).get(_BURST, {}))


def _leader(names: tuple[str, str, str], raw: Mapping[str, Any], standing: Mapping[str, Any]) -> Leader:
    ranked: Sequence[Sequence[Any]] = raw["ranked"]
    arm, expected_ms, sd_log, n = ranked[0]
    before = standing["ranked"][0][0] if standing.get("ranked") else None
    old_ms = next((row[1] for row in ranked if row[0] == before), None)
    shares = {row[0]: row[1] for row in raw["shares"]}
    explored_bp = sum(row[1] for row in raw["shares"] if row[2])
    factor = expected_ms / old_ms if old_ms else None
    return Leader(*names, arm, expected_ms, sd_log, n, shares.get(arm, 0), explored_bp, len(ranked), before, factor)


ORDERS: Final = {
    "gain": lambda leader: (leader.factor is None, leader.factor or 0.0),
    "expected": lambda leader: leader.expected_ms,
    "doubt": lambda leader: leader.sd_log,
    "windows": lambda leader: leader.n,
    "model": lambda leader: (leader.app, leader.model),
    "stack": lambda leader: leader.stack,
}
"""What they can be sorted by."""


def chosen(found: Iterable[Leader], text: str, change: str, order: str) -> list[Leader]:
    """Those that every word of the text stands in, of one change ("" for any), in an order ("-" before it for descending)."""
    words = text.lower().split()
    kept = [leader for leader in found if (not change or leader.change == change) and _says(leader, words)]
    kept.sort(key=lambda leader: (leader.app, leader.model, leader.stack))
    kept.sort(key=ORDERS[order.removeprefix("-")], reverse=order.startswith("-"))
    return kept


def _says(leader: Leader, words: Iterable[str]) -> bool:
    searched = f"{leader.stack} {leader.app}/{leader.model} {leader.arm}".lower()
    return all(word in searched for word in words)


@dataclass(frozen=True, slots=True)
class Place:
    """An arm in its place, with the share that begins with it."""

    of: RankedArm
    share_bp: int
    explores: bool
    low_ms: float
    high_ms: float


def places(ranking: Ranking) -> list[Place]:
    """The arms of one ranking, best first, with 95 % intervals."""
    shares = {share.arm: share for share in ranking.shares}
    return [_place(row, shares.get(row.arm)) for row in ranking.ranked]


def _place(row: RankedArm, share: Any) -> Place:
    wide = math.exp(Z_95 * row.sd_log)
    weight_bp, explores = (share.weight_bp, share.explore) if share else (0, False)
    return Place(row, weight_bp, explores, row.expected_ms / wide, row.expected_ms * wide)
