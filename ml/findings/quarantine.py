"""The narrowest cohort behind findings of failures: what a deny would have to name, and nothing else.

A trial is a cell (device class, model, arm): a driver that refuses a graph refuses it every time, and a phone that
crashes all day is one phone. See `ml.cohort` for the scan. The control of a cohort are the other arms of its phones and
models: where those fail as often it is the phones, or the app, and not the arm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np

from ml.cohort import Cohort, Control, Trials, scan
from ml.findings.finding import Finding, precision_of, target_of
from ml.rollup import Cell, Rollup

Count = Callable[[Rollup], tuple[int, int]]

FAILS: Final[Mapping[str, Count]] = MappingProxyType(
    {
        "wrong-output": lambda row: (row.golden_failed, row.golden_checked),
        "crash": lambda row: (row.crashed, row.attempts),
        "hang": lambda row: (row.timed_out, row.windows),
    }
)
"""Failures and trials of a rollup, by the name of the finding."""

NOTHING_TO_DENY: Final = frozenset({"accelerator-vanished", "driver-switched-off", "rollout-breach"})
"""Findings of what no phone runs any more."""


def with_quarantines(
    findings: Sequence[Finding], rollups: Iterable[Rollup], soc_of: Mapping[str, str]
) -> list[Finding]:
    """The findings; those of failures with the scanned cohort that lies within theirs, where there is one, and its
    control. What a detector itself would deny stays.
    """
    rows = list(rollups)
    named = {finding.name for finding in findings}
    cells = {name: failing_cells(rows, count) for name, count in FAILS.items() if name in named}
    cohorts = {name: scan(_trials(found, soc_of)) for name, found in cells.items()}
    narrowed = [_narrowed(f, cohorts.get(f.name, []), cells.get(f.name, {}), soc_of) for f in findings]
    return [
        replace(finding, control=_control(finding.quarantine, cells[finding.name], soc_of))
        if finding.name in cells
        else finding
        for finding in narrowed
    ]


def failing_cells(rows: Iterable[Rollup], count: Count) -> dict[Cell, bool]:
    """Cells that were tried; they fail if half of what was tried did."""
    totals: dict[Cell, tuple[int, int]] = {}
    for row in rows:
        failed, tried = totals.get(row.cell, (0, 0))
        more_failed, more_tried = count(row)
        totals[row.cell] = failed + more_failed, tried + more_tried
    return {cell: 2 * failed >= tried for cell, (failed, tried) in totals.items() if tried}


def _control(conditions: Mapping[str, str], cells: Mapping[Cell, bool], soc_of: Mapping[str, str]) -> Control:
    return control_of({cell for cell in cells if conditions.items() <= _attributes(cell, soc_of).items()}, cells)


def control_of(inside: Set[Cell], cells: Mapping[Cell, bool]) -> Control:
    """The cells of a cohort, and those of its device classes and models that lie outside."""
    beside = {(cell.group, cell.app, cell.model) for cell in inside}
    control = [cell for cell in cells if cell not in inside and (cell.group, cell.app, cell.model) in beside]
    failed = [cell for cell in inside if cells[cell]]
    return Control(
        trials=len(inside),
        failed=len(failed),
        control_trials=len(control),
        control_failed=sum(cells[cell] for cell in control),
        classes=len({cell.group for cell in failed}),
    )


def _narrowed(
    finding: Finding, cohorts: Iterable[Cohort], cells: Mapping[Cell, bool], soc_of: Mapping[str, str]
) -> Finding:
    if finding.name in NOTHING_TO_DENY or finding.quarantine:
        return finding
    cohort = {"soc": finding.soc, "target": finding.target, "precision": finding.precision}
    cohort = {name: value for name, value in cohort.items() if value}
    for found in cohorts:
        if all(cohort.get(name, value) == value for name, value in found.conditions.items()):
            return replace(finding, quarantine={**cohort, **found.conditions})
    return replace(finding, quarantine=cohort | _only_model(cohort, cells, soc_of))


def _only_model(cohort: Mapping[str, str], cells: Mapping[Cell, bool], soc_of: Mapping[str, str]) -> dict[str, str]:
    """The model, where all that fails in a cohort is of one and every other works: a scan takes more cells to say so."""
    inside = [
        (attributes["model"], failed)
        for cell, failed in cells.items()
        if cohort.items() <= (attributes := _attributes(cell, soc_of)).items()
    ]
    failing = {model for model, failed in inside if failed}
    working = {model for model, failed in inside if not failed}
    return {"model": failing.pop()} if len(failing) == 1 and working and not failing & working else {}


def _trials(failing: Mapping[Cell, bool], soc_of: Mapping[str, str]) -> Trials:
    """One trial a cell."""
    attributes = [_attributes(cell, soc_of) for cell in failing]
    names = attributes[0] if attributes else ("soc", "target", "precision", "model")
    columns = {name: np.array([row[name] for row in attributes], dtype=np.str_) for name in names}
    return Trials.of(columns, np.array(list(failing.values()), dtype=np.bool_))


def _attributes(cell: Cell, soc_of: Mapping[str, str]) -> dict[str, str]:
    return {
        "soc": soc_of[cell.group],
        "target": target_of(cell.arm),
        "precision": precision_of(cell.arm),
        "model": f"{cell.app}/{cell.model}",
    }
