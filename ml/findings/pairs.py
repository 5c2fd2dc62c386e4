"""Two cells that should differ in one thing only, and the test that one of them is slower: shared by detectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp

from ml.findings.finding import Cohort, Finding, mean_p_value, over_cells, target_of
from ml.rollup import Cell, CellSummary, Rollup, regrouped, summaries

MIN_PAIRS = 2

FileKey = tuple[str, str, str, str, str]
"""SoC, app, model, precision and format: a file on a SoC."""


@dataclass(frozen=True)
class Pair:
    """A cell and what it is held against; `log_ratio` is above 0 where the cell is the worse one."""

    own: CellSummary
    other: CellSummary
    log_ratio: float


def by_soc(rollups: Iterable[Rollup], soc_of: Mapping[str, str]) -> dict[Cell, CellSummary]:
    """Measured cells, device classes of one SoC pooled."""
    return measured(regrouped(rollups, soc_of))


def measured(of_socs: Iterable[Rollup]) -> dict[Cell, CellSummary]:
    """The same, of rollups whose group is their SoC."""
    return {cell: summary for cell, summary in summaries(of_socs).items() if summary.measured}


def cpu_cells(cells: Mapping[Cell, CellSummary]) -> dict[FileKey, CellSummary]:
    """CPU arms by file."""
    return {file_key(cell): summary for cell, summary in cells.items() if target_of(cell.arm) == "cpu"}


def file_key(cell: Cell) -> FileKey:
    """What cells share that run the same file on the same SoC."""
    precision, fmt, *_ = [*cell.arm.split(".", 2), "", ""]
    return cell.group, cell.app, cell.model, precision, fmt


def slower(name: str, cohort: Cohort, pairs: Sequence[Pair], null: float, says: str) -> Finding:
    """The finding that the cells of the pairs are worse by more than `null` (a log ratio). `says` takes the factor."""
    ratios = [pair.log_ratio for pair in pairs]
    factor = exp(sum(ratios) / len(ratios))
    evidence = tuple(
        {
            "model": pair.own.cell.model, "arm": pair.own.cell.arm, "windows": pair.own.measured,
            "ms": exp(pair.own.log_p50_us) / 1e3, "against": pair.other.cell.arm,
            "against_ms": exp(pair.other.log_p50_us) / 1e3, "factor": exp(pair.log_ratio),
        }
        for pair in pairs
    )  # fmt: skip
    detail = f"{cohort.target} {says.format(f'{factor:.2f}')}, {over_cells(len(pairs))}"
    windows = sum(pair.own.measured for pair in pairs)
    return Finding(name, *cohort, mean_p_value(ratios, null), windows, detail, evidence)
