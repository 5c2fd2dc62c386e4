"""Ways to explore that a demo can play, and what each came to beside the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table

from ml.explore import Budget, Splits, explore, explore_evenly
from ml.rankings import Rankings
from service.cli.demo.rounds import RoundFigures

EXPLORATION_BP: Final = 2_000
"""Share of units that explore before anything is known. Assumed."""


@dataclass(frozen=True)
class Exploring:
    """How rankings become weights, and the share of units that explore before anything is known."""

    name: str
    split: Callable[[Rankings, Budget], Splits]
    first_bp: int


def _nowhere(rankings: Rankings, _: Budget) -> Splits:
    return explore_evenly(rankings, Budget(mean_bp=0))


WHERE_IT_PAYS: Final = Exploring("where it pays", explore, EXPLORATION_BP)
WAYS: Final = (
    WHERE_IT_PAYS,
    Exploring("evenly", explore_evenly, EXPLORATION_BP),
    Exploring("nowhere", _nowhere, 0),
)
"""The same budget, spent by `ml.explore` or spread over all arms; and none."""


def print_comparison(console: Console, played: Mapping[str, Sequence[RoundFigures]]) -> None:
    """Mean regret and the share within 1.1 × by round, a way beside the other."""
    table = Table(title="Mean regret, and share within 1.1 × of the best arm, by where the fleet explores")
    table.add_column("round", justify="right")
    for name in played:
        table.add_column(name, justify="right")
    for rows in zip(*played.values(), strict=True):
        table.add_row(str(rows[0].round), *(f"{row.mean_regret:.3f} ×  {row.within_1_1:.1%}" for row in rows))
    console.print(table)
    for name, told in played.items():
        excess = sum(row.mean_regret - 1 for row in told) / len(told)
        console.print(f"exploring {name}: {excess:.1%} over the best arms in the mean of all rounds")
