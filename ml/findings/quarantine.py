"""The narrowest cohort behind findings of failures: what a deny would have to name, and nothing else.

A trial is a cell (device class, model, arm): a driver that refuses a graph refuses it every time, and a phone that
crashes all day is one phone. See `ml.cohort` for the scan. The control of a cohort are the other arms of its phones and
models: where those fail as often it is the phones, or the app, and not the arm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from ml.cohort import Cohort, Control, Trials, scan
from ml.findings.counted import Count
from ml.findings.crash import CRASH
from ml.findings.device import Device
from ml.findings.finding import Finding, precision_of, target_of
from ml.findings.golden import WRONG_OUTPUT
from ml.findings.hang import HANG
from ml.rollup import Cell, Rollup

FAILS: Final[Mapping[str, Count]] = MappingProxyType(
    {failure.name: failure.count for failure in (WRONG_OUTPUT, CRASH, HANG)}
    | {"does-not-run": lambda row: (row.failed, row.windows)}
)
"""Failures and trials of a rollup, by the name of the finding."""

SCANNED: Final = ("soc", "target", "precision", "model")
SIBLING: Final = ("soc_id", "version")
"""Attributes of cells. Those of siblings are looked at where the scan has been: every further one makes it less sure."""

NOTHING_TO_DENY: Final = frozenset(
    {"accelerator-vanished", "driver-switched-off", "rollout-breach", "wrong-operation", "runtime-update-slower"}
)
"""Findings of what no phone runs any more, that no model may ever meet, or that is the app's own to mend."""


def with_quarantines(
    findings: Sequence[Finding], rollups: Iterable[Rollup], devices: Mapping[str, Device]
) -> list[Finding]:
    """The findings; those of failures with the scanned cohort that most of their failing cells lie in, where there is one, and its
    control. What a detector itself would deny stays.
    """
    rows = list(rollups)
    named = {finding.name for finding in findings}
    failing = {name: failing_cells(rows, count) for name, count in FAILS.items() if name in named}
    cells = {
        name: [_Tried(cell, bad, _attributes(cell, devices)) for cell, bad in f.items()] for name, f in failing.items()
    }
    cohorts = {name: scan(_trials(tried)) for name, tried in cells.items()}
    narrowed = [_narrowed(f, cohorts.get(f.name, []), cells.get(f.name, [])) for f in findings]
    return [
        replace(finding, control=control_of(_inside(finding.quarantine, cells[finding.name]), failing[finding.name]))
        if finding.name in cells
        else finding
        for finding in narrowed
    ]


class _Tried(NamedTuple):
    """A cell that was tried, whether it fails, and what it can be named by."""

    cell: Cell
    failed: bool
    attributes: Mapping[str, str]


def failing_cells(rows: Iterable[Rollup], count: Count) -> dict[Cell, bool]:
    """Cells that were tried; they fail if half of what was tried did."""
    totals: dict[Cell, tuple[int, int]] = {}
    for row in rows:
        failed, tried = totals.get(row.cell, (0, 0))
        more_failed, more_tried = count(row)
        totals[row.cell] = failed + more_failed, tried + more_tried
    return {cell: 2 * failed >= tried for cell, (failed, tried) in totals.items() if tried}


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


def _inside(conditions: Mapping[str, str], tried: Iterable[_Tried]) -> set[Cell]:
    return {one.cell for one in tried if conditions.items() <= one.attributes.items()}


def _narrowed(finding: Finding, cohorts: Iterable[Cohort], tried: Sequence[_Tried]) -> Finding:
    if finding.name in NOTHING_TO_DENY or finding.quarantine:
        return finding
    cohort = {"soc": finding.soc, "target": finding.target, "precision": finding.precision, **finding.of}
    cohort = {name: value for name, value in cohort.items() if value}
    failing = [one.attributes for one in tried if one.failed and cohort.items() <= one.attributes.items()]
    for found in cohorts:
        if 2 * sum(found.conditions.items() <= attributes.items() for attributes in failing) > len(failing):
            cohort |= found.conditions
            break
    else:
        cohort |= _only(("model",), cohort, tried)
    return replace(finding, quarantine=cohort | _only(SIBLING, cohort, tried))


def _only(names: Sequence[str], cohort: Mapping[str, str], tried: Iterable[_Tried]) -> dict[str, str]:
    """What all that fails in a cohort has in common and nothing that works has: a scan takes more cells to say so."""
    inside = [one for one in tried if cohort.items() <= one.attributes.items()]
    failing = {tuple(one.attributes[name] for name in names) for one in inside if one.failed}
    working = {tuple(one.attributes[name] for name in names) for one in inside if not one.failed}
    if len(failing) != 1 or not working or failing & working:
        return {}
    return {name: value for name, value in zip(names, failing.pop(), strict=True) if value}


def _trials(tried: Sequence[_Tried]) -> Trials:
    """One trial a cell."""
    columns = {name: np.array([one.attributes[name] for one in tried], dtype=np.str_) for name in SCANNED}
    return Trials.of(columns, np.array([one.failed for one in tried], dtype=np.bool_))


def _attributes(cell: Cell, devices: Mapping[str, Device]) -> dict[str, str]:
    device, target = devices[cell.group], target_of(cell.arm)
    return {
        "soc": device.soc,
        "target": target,
        "precision": precision_of(cell.arm),
        "model": f"{cell.app}/{cell.model}",
        **device.sibling(target),
    }
