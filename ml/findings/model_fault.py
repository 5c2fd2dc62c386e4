"""A file that fails with one delegate on chip after chip: the fault is of model and runtime, and of no driver.

Null: a file fails with a delegate on at most one SoC in twenty of those that run it right on the CPU, and most other files
right with the delegate. On a SoC it fails if every driver of the delegate fails it; a driver that gets most files wrong says
nothing about one of them. SoCs are counted, not windows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ml.findings.counted import Count
from ml.findings.finding import ANY, Finding, cohort_of, share_p_value, target_of
from ml.findings.quarantine import FAILS, control_of, failing_cells
from ml.findings.seen import Seen
from ml.rollup import Cell, Rollup
from policies.vocabulary import Delegate

NULL_SHARE: Final = 0.05
MIN_SOCS: Final = 3
"""Chips of one vendor share drivers: two that agree may be one driver."""

_SAYS: Final = {"wrong-output": "fails its golden check", "crash": "ends the process", "hang": "times out"}
"""Ways to fail. A graph that is refused is refused on chip after chip by right: nothing implements some of its operations."""

FAILURE_OF: Final[Mapping[str, str]] = MappingProxyType({f"model-{failure}": failure for failure in _SAYS})
"""Finding of a model → the finding of a driver that fails in the same way."""


class _File(NamedTuple):
    """A file of a model (app/name) and the delegate that runs it."""

    model: str
    precision: str
    format: str
    delegate: str


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a way to fail, file and delegate that three SoCs or more can tell of."""
    for name, failure in FAILURE_OF.items():
        for file, by_soc in _trials(failing_cells(seen.of_socs, FAILS[failure])).items():
            if len(by_soc) >= MIN_SOCS:
                yield _finding(name, file, by_soc, seen)


def settled(findings: Sequence[Finding], seen: Seen) -> list[Finding]:
    """The findings; those of models with their control, and without those of drivers that they explain."""
    failing = {
        failure: failing_cells(seen.of_socs, FAILS[failure])
        for name, failure in FAILURE_OF.items()
        if name in {finding.name for finding in findings}
    }
    explained: defaultdict[str, set[Cell]] = defaultdict(set)
    for finding in findings:
        failure = FAILURE_OF.get(finding.name)
        if failure is not None:
            explained[failure] |= {cell for cell in failing[failure] if finding.covers(cell, cell.group)}
    return [
        _controlled(finding, seen) if finding.name in FAILURE_OF else finding
        for finding in findings
        if not _explained(finding, failing.get(finding.name, {}), explained[finding.name])
    ]


def _explained(finding: Finding, failing: Mapping[Cell, bool], explained: set[Cell]) -> bool:
    """Whether all cells that fail in the cohort of a driver are of models that fail everywhere."""
    cohort = (finding.soc, finding.target, finding.precision)
    failed = {cell for cell, bad in failing.items() if bad and cohort_of(cell) == cohort}
    return bool(failed) and failed <= explained


def _trials(failing: Mapping[Cell, bool]) -> dict[_File, dict[str, bool]]:
    """File → SoC → whether it fails there, of the SoCs that can tell."""
    tried: defaultdict[tuple[str, str], dict[_File, bool]] = defaultdict(dict)
    for cell, failed in failing.items():
        file = _file_of(cell)
        on_soc = tried[cell.group, file.delegate]
        on_soc[file] = on_soc.get(file, True) and failed
    found: defaultdict[_File, dict[str, bool]] = defaultdict(dict)
    for (soc, _), files in tried.items():
        on_cpu = tried.get((soc, Delegate.CPU), {})
        for file, failed in files.items():
            if _can_tell(file, files, on_cpu):
                found[file][soc] = failed
    return dict(found)


def _can_tell(file: _File, beside: Mapping[_File, bool], on_cpu: Mapping[_File, bool]) -> bool:
    others = [failed for other, failed in beside.items() if other != file]
    wrong_anyway = on_cpu.get(file._replace(delegate=Delegate.CPU), False)
    return file.delegate != Delegate.CPU and not wrong_anyway and 2 * sum(others) <= len(others)


def _file_of(cell: Cell) -> _File:
    precision, kind, *_ = [*cell.arm.split(".", 2), "", ""]
    return _File(f"{cell.app}/{cell.model}", precision, kind, target_of(cell.arm).partition(".")[0])


def _finding(name: str, file: _File, by_soc: Mapping[str, bool], seen: Seen) -> Finding:
    socs = tuple(sorted(soc for soc, failed in by_soc.items() if failed))
    rows = [row for row in seen.rows if _file_of(row.cell) == file and seen.soc_of[row.cell.group] in socs]
    classes = {row.cell.group for row in rows}
    levels = {seen.devices[name].api_level for name in classes}
    target = f"{file.delegate}.*" if any("." in target_of(row.cell.arm) for row in rows) else file.delegate
    evidence = tuple(_evidence(soc, FAILS[FAILURE_OF[name]], rows, seen) for soc in socs)
    detail = (
        f"{file.model} ({file.precision}.{file.format}) {_SAYS[FAILURE_OF[name]]} with {file.delegate} on {len(socs)} of "
        f"{len(by_soc)} SoCs that could tell: {len(classes)} device classes of {len(levels)} API levels"
    )
    quarantine = {"target": target, "precision": file.precision, "format": file.format, "model": file.model}
    return Finding(
        name, ANY, target, file.precision, share_p_value(len(socs), len(by_soc), NULL_SHARE),
        sum(row["failed"] for row in evidence), detail, evidence, quarantine,
        of={"format": file.format, "model": file.model}, socs=socs,
    )  # fmt: skip


def _evidence(soc: str, count: Count, rows: Sequence[Rollup], seen: Seen) -> dict[str, Any]:
    here = [row for row in rows if seen.soc_of[row.cell.group] == soc]
    classes = {row.cell.group for row in here}
    counted = [count(row) for row in here]
    return {
        "soc": soc, "arms": ", ".join(sorted({row.cell.arm for row in here})), "classes": len(classes),
        "api_levels": ", ".join(map(str, sorted({seen.devices[name].api_level for name in classes}))),
        "failed": sum(failed for failed, _ in counted), "tried": sum(tried for _, tried in counted),
    }  # fmt: skip


def _controlled(finding: Finding, seen: Seen) -> Finding:
    cells = failing_cells(seen.rows, FAILS[FAILURE_OF[finding.name]])
    inside = {cell for cell in cells if finding.covers(cell, seen.soc_of[cell.group])}
    return replace(finding, control=control_of(inside, cells))
