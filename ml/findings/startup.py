"""Start-up cost that eats the gain. Null: a session on the accelerator costs at most what it costs on the CPU.

A session is a start and the runs that windows of the model hold on average. Only cells whose runs are faster than the
CPU's are looked at: slow ones have another name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import exp, log

from ml.findings.finding import Finding
from ml.findings.pairs import MIN_PAIRS, Pair, file_key, slower
from ml.findings.seen import Seen
from ml.rollup import Cell, CellSummary


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a driver with two faster cells or more of which starts were timed, here and on the CPU."""
    runs = _runs(seen.cells)
    for cohort, members in seen.delegating.items():
        known = [(own, seen.cpu[key]) for own in members if (key := file_key(own.cell)) in seen.cpu]
        pairs = [
            Pair(own, other, log(_session_us(own, runs) / _session_us(other, runs)))
            for own, other in known
            if own.log_p50_us < other.log_p50_us and own.startup_us is not None and other.startup_us is not None
        ]
        if len(pairs) >= MIN_PAIRS:
            found = slower("start-up-cost", cohort, pairs, 0.0, "costs {} × a session on the CPU, starts included")
            told = ({**row, **_sessions(pair, runs)} for row, pair in zip(found.evidence, pairs, strict=True))
            yield replace(found, evidence=tuple(told))


def _sessions(pair: Pair, runs: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """What a session is made of, beside the time of a run."""
    return {
        "runs_a_session": runs[pair.own.cell.app, pair.own.cell.model],
        "start_ms": (pair.own.startup_us or 0.0) / 1e3,
        "against_start_ms": (pair.other.startup_us or 0.0) / 1e3,
    }


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
