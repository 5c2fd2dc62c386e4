"""Partition cost. Null: a graph cut in pieces takes at most 1.05 times as long as the same file on the CPU alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import log

from ml.findings.finding import Finding
from ml.findings.pairs import MIN_PAIRS, Pair, by_soc, cpu_cells, delegating, file_key, slower
from ml.rollup import CellSummary, Rollup

NULL_LOG_RATIO = log(1.05)


def detect(rollups: Iterable[Rollup], soc_of: Mapping[str, str]) -> Iterator[Finding]:
    """One hypothesis a driver with two cells or more that run in pieces and whose CPU arm was measured too."""
    rows = list(rollups)
    cells = by_soc(rows, soc_of)
    cpu = cpu_cells(cells)
    for cohort, members in delegating(rows, soc_of):
        cut = [cells[cell] for cell in members if file_key(cell) in cpu and _in_pieces(cells[cell])]
        pairs = [
            Pair(own, other, own.log_p50_us - other.log_p50_us) for own in cut for other in [cpu[file_key(own.cell)]]
        ]
        if len(pairs) >= MIN_PAIRS:
            yield slower(
                "partition-cost", cohort, pairs, NULL_LOG_RATIO, "runs graphs in pieces at {} × the CPU's time"
            )


def _in_pieces(summary: CellSummary) -> bool:
    """The delegate took something, not all, in more than one piece."""
    share = summary.delegated_share
    return (summary.partitions or 0.0) > 1 and share is not None and 0 < share < 1
