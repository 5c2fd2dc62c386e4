"""From rankings of short bursts to rankings of sustained work: what heat takes from an arm, measured hot against cool.

A window that does not say how hot the phone was may have been a second's work or the end of an hour's: it can put no arm at
the head of sustained work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ml.candidates import model_label
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

Marks = NDArray[np.bool_]

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


Told = Set[tuple[str, str, str]]
"""(driver stack, model as app/name, arm) that a window measured which says how hot the phone was."""


def told_of(rollups: Iterable[Rollup]) -> Told:
    """The cells of these rollups, by driver stack, of which a window says how hot the phone was."""
    return {
        (row.cell.group, model_label(row.cell.app, row.cell.model), row.cell.arm)
        for row in rollups
        if row.measured and row.hot is not None
    }


def explored(
    splits: Splits, soc_of: Mapping[str, str], known: Heats, told: Told, budget: Budget,
    split: Callable[[Rankings, Budget], Splits] = explore,
) -> Splits:  # fmt: skip
    """The splits for sustained work. `soc_of`: SoC by driver stack; `budget` and `split` as for bursts.

    A unit none of whose arms was measured hot keeps what bursts have taught. In the others arms are ordered by their hot
    latency, and those whose heat nobody has measured are doubtful: they are tried in sustained work too. An arm that only
    windows without thermal state have measured leads neither: an arm that others have measured does, else the CPU.
    """
    rankings = splits.rankings
    heat = [_heat_of(*row, soc_of, known) for row in zip(rankings.cells.chipset, rankings.cells.arm, strict=True)]
    measured = np.array([h is not UNKNOWN and h is not CPU for h in heat], dtype=np.bool_)
    apart = (np.bincount(rankings.unit, measured, len(rankings)) > 0)[rankings.unit]
    factor = np.where(apart, [h.log_factor for h in heat], 0.0)
    doubt = np.where(apart, [h.sd for h in heat], 0.0)
    ordered = _heated(rankings, factor, doubt, apart) if apart.any() else rankings
    ordered, led_anew = _led_by_told(ordered, told)
    apart |= led_anew[rankings.unit]
    if not apart.any():
        return splits
    hot = split(ordered, budget)
    return replace(hot, weight_bp=np.where(apart, hot.weight_bp, splits.weight_bp))


def _heat_of(stack: str, arm: str, soc_of: Mapping[str, str], known: Heats) -> Heat:
    target = target_of(str(arm))
    return CPU if target == "cpu" else known.get((soc_of[str(stack)], target), UNKNOWN)


def _heated(rankings: Rankings, factor: Numbers, doubt: Numbers, apart: Marks) -> Rankings:
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
        joints=posterior.joints,
    )


def _led_by_told(rankings: Rankings, told: Told) -> tuple[Rankings, Marks]:
    """The rankings, led by the first arm that may lead where the one before it may not, and the units where that is so.

    Arms that windows with a thermal state have measured may, and the CPU; and those that nobody measured, for no sample put
    them there.
    """
    cells, unit = rankings.cells, rankings.unit
    keys = zip(cells.chipset.tolist(), cells.model.tolist(), cells.arm.tolist(), strict=True)
    may_lead = np.array([key in told or target_of(key[2]) == "cpu" for key in keys], dtype=np.bool_)
    allowed = rankings.excluded == Exclusion.NONE.value
    place = np.argsort(rankings.order)
    first = np.full(len(rankings), len(place))
    np.minimum.at(first, unit[allowed & may_lead], place[allowed & may_lead])
    promoted = allowed & ~may_lead & (rankings.reports > 0)
    moved = promoted[rankings.leader] & (first < len(place))
    ahead = moved[unit] & (place == first[unit])
    return replace(rankings, order=np.lexsort((place, ~ahead, unit))), moved


def _groups(rankings: Rankings, sd: Numbers) -> Iterator[UnitGroup]:
    """Units with the same number of arms, their arms independent."""
    sizes = np.diff(rankings.starts)
    by_unit: Index = np.argsort(rankings.unit, kind="stable")
    for size in np.unique(sizes).tolist():
        starts = rankings.starts[:-1][sizes == size]
        rows = by_unit[starts[:, None] + np.arange(size)[None, :]]
        yield UnitGroup(rows, np.eye(size)[None, :, :] * (sd[rows] ** 2)[:, :, None])
