"""Start-up cost that eats the gain. Null: a session on the accelerator costs at most what it costs on the CPU.

A session is a start and the runs that windows of the model hold on average. Only cells whose runs are faster than the
CPU's are looked at: slow ones have another name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import exp, log

from ml.findings.finding import Finding
from ml.findings.pairs import MIN_PAIRS, Pair, by_soc, cpu_cells, delegating, file_key, slower
from ml.rollup import Cell, CellSummary, Rollup


def detect(rollups: Iterable[Rollup], soc_of: Mapping[str, str]) -> Iterator[Finding]:
    """One hypothesis a driver with two faster cells or more of which starts were timed, here and on the CPU."""
    rows = list(rollups)
    cells = by_soc(rows, soc_of)
    cpu, runs = cpu_cells(cells), _runs(cells)
    for cohort, members in delegating(rows, soc_of):
        known = [(cells[cell], cpu[file_key(cell)]) for cell in members if file_key(cell) in cpu]
        pairs = [
            Pair(own, other, log(_session_us(own, runs) / _session_us(other, runs)))
            for own, other in known
            if own.log_p50_us < other.log_p50_us and own.startup_us is not None and other.startup_us is not None
        ]
        if len(pairs) >= MIN_PAIRS:
            yield slower("start-up-cost", cohort, pairs, 0.0, "costs {} × a session on the CPU, starts included")


def _runs(cells: Mapping[Cell, CellSummary]) -> dict[tuple[str, str], float]:
    """Mean runs of a window, by app and model."""
    totals: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for cell, summary in cells.items():
        total = totals[cell.app, cell.model]
        total[0] += summary.runs
        total[1] += summary.measured
    return {key: runs / windows for key, (runs, windows) in totals.items()}


def _session_us(summary: CellSummary, runs: Mapping[tuple[str, str], float]) -> float:
    return (summary.startup_us or 0.0) + runs[summary.cell.app, summary.cell.model] * exp(summary.log_p50_us)
