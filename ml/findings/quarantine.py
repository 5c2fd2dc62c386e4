"""The narrowest cohort behind findings of failures: what a deny would have to name, and nothing else.

A trial is a cell (device class, model, arm): a driver that refuses a graph refuses it every time, and a phone that
crashes all day is one phone. See `ml.cohort` for the scan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np

from ml.cohort import Cohort, Trials, scan
from ml.findings.finding import Finding, precision_of, target_of
from ml.rollup import Cell, Rollup

FAILS: Final[Mapping[str, Callable[[Rollup], tuple[int, int]]]] = MappingProxyType(
    {
        "wrong-output": lambda row: (row.golden_failed, row.golden_checked),
        "crash": lambda row: (row.crashed, row.attempts),
        "hang": lambda row: (row.timed_out, row.windows),
    }
)
"""Failures and trials of a rollup, by the name of the finding."""


def with_quarantines(
    findings: Sequence[Finding], rollups: Iterable[Rollup], soc_of: Mapping[str, str]
) -> list[Finding]:
    """The findings; those of failures with the scanned cohort that lies within theirs, where there is one."""
    rows = list(rollups)
    named = {finding.name for finding in findings}
    cohorts = {name: scan(_trials(rows, soc_of, count)) for name, count in FAILS.items() if name in named}
    return [_narrowed(finding, cohorts.get(finding.name, [])) for finding in findings]


def _narrowed(finding: Finding, cohorts: Iterable[Cohort]) -> Finding:
    cohort = {"soc": finding.soc, "target": finding.target, "precision": finding.precision}
    cohort = {name: value for name, value in cohort.items() if value}
    for found in cohorts:
        if all(cohort.get(name, value) == value for name, value in found.conditions.items()):
            return replace(finding, quarantine={**cohort, **found.conditions})
    return replace(finding, quarantine=cohort)


def _trials(rows: Iterable[Rollup], soc_of: Mapping[str, str], count: Callable[[Rollup], tuple[int, int]]) -> Trials:
    """One trial a cell that was tried; it failed if half of it did."""
    totals: dict[Cell, tuple[int, int]] = {}
    for row in rows:
        failed, tried = totals.get(row.cell, (0, 0))
        more_failed, more_tried = count(row)
        totals[row.cell] = failed + more_failed, tried + more_tried
    cells = [cell for cell, (_, tried) in totals.items() if tried]
    attributes = {
        "soc": [soc_of[cell.group] for cell in cells],
        "target": [target_of(cell.arm) for cell in cells],
        "precision": [precision_of(cell.arm) for cell in cells],
        "model": [f"{cell.app}/{cell.model}" for cell in cells],
    }
    half = np.array([2 * totals[cell][0] >= totals[cell][1] for cell in cells], dtype=np.bool_)
    columns = {name: np.array(column, dtype=np.str_) for name, column in attributes.items()}
    return Trials.of(columns, half)
