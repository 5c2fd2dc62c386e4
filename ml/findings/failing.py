"""Does not run. Null: at most a quarter of the cells given to a driver fail to start on all phones of one SoC, or of siblings.

A driver refuses single graphs: that is coverage. One that most graphs fail on is the wrong one for its chip: a runtime that
does not know the chip's number yet, or an update that lost its files. Siblings share a SoC's name and differ in its number or
in the driver's version; the worst of them stands for a driver, at a price (Bonferroni). Cells are counted, not windows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ml.findings.device import Device
from ml.findings.finding import Cohort, Finding, share_p_value, target_of
from ml.findings.quarantine import FAILS, failing_cells
from ml.findings.seen import Seen
from ml.rollup import Cell, Rollup

NULL_SHARE: Final = 0.25
NAME: Final = "does-not-run"

Sibling = frozenset[tuple[str, str]]
"""What tells a sibling from others with its SoC; empty for all of them."""


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a driver that was given anything."""
    by_driver: defaultdict[Cohort, list[Rollup]] = defaultdict(list)
    for row in seen.rows:
        target = target_of(row.cell.arm)
        if target != "cpu":
            by_driver[Cohort(seen.soc_of[row.cell.group], target, "")].append(row)
    for cohort, rows in by_driver.items():
        siblings = _siblings(failing_cells(rows, FAILS[NAME]), cohort.target, seen.devices)
        if siblings:
            p_values = {told: _p_value(cells) for told, cells in siblings.items()}
            worst = min(p_values, key=lambda told: (p_values[told], sorted(told)))
            yield _finding(cohort, worst, siblings[worst], rows, min(1.0, p_values[worst] * len(siblings)))


def _siblings(
    cells: Mapping[Cell, bool], target: str, devices: Mapping[str, Device]
) -> dict[Sibling, dict[Cell, bool]]:
    """Cells of all, and of each sibling where there are several."""
    found: defaultdict[Sibling, dict[Cell, bool]] = defaultdict(dict)
    for cell, failed in cells.items():
        told = {name: value for name, value in devices[cell.group].sibling(target).items() if value}
        found[frozenset(told.items())][cell] = failed
    return {frozenset(): dict(cells)} | (found if len(found) > 1 else {}) if cells else {}


def _p_value(cells: Mapping[Cell, bool]) -> float:
    return share_p_value(sum(cells.values()), len(cells), NULL_SHARE)


def _finding(
    cohort: Cohort, sibling: Sibling, cells: Mapping[Cell, bool], rows: Sequence[Rollup], p_value: float
) -> Finding:
    here = [row for row in rows if cells.get(row.cell) and row.failed]
    of = dict(sorted(sibling))
    named = "".join(f", {name.replace('_', ' ')} {value}" for name, value in of.items())
    detail = f"{sum(cells.values())} of {len(cells)} cells given to {cohort.target}{named} do not run"
    evidence = tuple(
        {"model": row.cell.model, "arm": row.cell.arm, "windows": row.windows, "failed": row.failed} for row in here
    )
    return Finding(NAME, *cohort, p_value, sum(row.failed for row in here), detail, evidence, of=of)
