"""From rankings of short bursts to rankings of sustained work: what heat takes from an arm, measured hot against cool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ml.explore import Budget, Splits, explore
from ml.findings.finding import by_cohort, target_of
from ml.findings.thermal import hot_and_cool
from ml.limits import Exclusion
from ml.posterior import Posterior, UnitGroup
from ml.rankings import Rankings
from ml.rollup import Rollup
from ml.table import Index, Numbers

PRIOR_CELLS: Final = 2.0
"""Cells without any thermal step that a cohort is thought to have shown before its first: few pairs move little."""

PRIOR_SD: Final = 0.3
"""Spread of the logarithm of hot ÷ cool between drivers: half of 10 → 18 ms, which is a bad one (assumed)."""


@dataclass(frozen=True)
class Heat:
    """Logarithm of hot ÷ cool latency of one cohort, never below 0, and how sure that is."""

    log_factor: float
    sd: float


REGRET_CAP: Final = 2.0
"""As in `ml.recommend.recommend`."""

UNKNOWN: Final = Heat(0.0, PRIOR_SD)
CPU: Final = Heat(0.0, 0.0)
"""What accelerators are held against: its own heat is in all of them."""

Heats = Mapping[tuple[str, str], Heat]
"""(SoC, what executes) → heat, of cohorts that were measured hot and cool."""


def heats(rollups: Iterable[Rollup], soc_of: Mapping[str, str]) -> dict[tuple[str, str], Heat]:
    """Heat of the cohorts that were measured hot and cool, shrunk towards none."""
    found = {}
    for cohort, rows in by_cohort(rollups, soc_of, precision=False).items():
        ratios = [pair.log_ratio for pair in hot_and_cool(rows).values()]
        if ratios:
            cells = len(ratios) + PRIOR_CELLS
            found[cohort.soc, cohort.target] = Heat(
                max(0.0, sum(ratios) / cells), PRIOR_SD * (PRIOR_CELLS / cells) ** 0.5
            )
    return found


def explored(
    splits: Splits, soc_of: Mapping[str, str], known: Heats, budget: Budget,
    split: Callable[[Rankings, Budget], Splits] = explore,
) -> Splits:  # fmt: skip
    """The splits for sustained work. `soc_of`: SoC by driver stack; `budget` and `split` as for bursts.

    A unit none of whose arms was measured hot keeps what bursts have taught. In the others arms are ordered by their hot
    latency, and those whose heat nobody has measured are doubtful: they are tried in sustained work too.
    """
    rankings = splits.rankings
    heat = [_heat_of(*row, soc_of, known) for row in zip(rankings.cells.chipset, rankings.cells.arm, strict=True)]
    measured = np.array([h is not UNKNOWN and h is not CPU for h in heat], dtype=np.bool_)
    apart = (np.bincount(rankings.unit, measured, len(rankings)) > 0)[rankings.unit]
    if not apart.any():
        return splits
    factor = np.where(apart, [h.log_factor for h in heat], 0.0)
    doubt = np.where(apart, [h.sd for h in heat], 0.0)
    hot = split(_heated(rankings, factor, doubt, apart), budget)
    return replace(hot, weight_bp=np.where(apart, hot.weight_bp, splits.weight_bp))


def _heat_of(stack: str, arm: str, soc_of: Mapping[str, str], known: Heats) -> Heat:
    target = target_of(str(arm))
    return CPU if target == "cpu" else known.get((soc_of[str(stack)], target), UNKNOWN)


def _heated(rankings: Rankings, factor: Numbers, doubt: Numbers, apart: np.ndarray) -> Rankings:
    """The rankings of hot phones. Arms of a unit are taken as independent: heat is another doubt for each driver."""
    cost, sd = rankings.cost_ms * np.exp(factor), np.hypot(rankings.sd, doubt)
    allowed = rankings.excluded == Exclusion.NONE.value
    posterior = Posterior(np.log(cost), sd, tuple(_groups(rankings, sd)))
    order = np.lexsort((rankings.cells.arm, np.log(cost) + rankings.caution, ~allowed, rankings.unit))
    return replace(
        rankings,
        mean=rankings.mean + factor,
        sd=sd,
        cost_ms=cost,
        best_probability=np.where(apart, posterior.best_probability(allowed=allowed), rankings.best_probability),
        regret=np.where(apart, posterior.expected_excess(REGRET_CAP, allowed=allowed), rankings.regret),
        order=order,
    )


def _groups(rankings: Rankings, sd: Numbers) -> Iterator[UnitGroup]:
    """Units with the same number of arms, their arms independent."""
    sizes = np.diff(rankings.starts)
    by_unit: Index = np.argsort(rankings.unit, kind="stable")
    for size in np.unique(sizes).tolist():
        starts = rankings.starts[:-1][sizes == size]
        rows = by_unit[starts[:, None] + np.arange(size)[None, :]]
        yield UnitGroup(rows, np.eye(size)[None, :, :] * (sd[rows] ** 2)[:, :, None])
