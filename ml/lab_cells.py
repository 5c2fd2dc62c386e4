"""Where lab measurements enter learning: as latencies of cells that the fleet has not measured, and nowhere else.

A lab's phone is one phone in a cool room: it says how fast an arm is about, not how often it fails, how right it is or how
it starts. So it fills a gap with the weight of one window, and the first window of the fleet takes its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import log

from ml.rollup import Cell, CellSummary


def filled(cells: Mapping[Cell, CellSummary], measured_us: Iterable[tuple[Cell, float]]) -> dict[Cell, CellSummary]:
    """The fleet's cells, and those that only a lab has measured: the mean of the logarithms of its latencies (µs)."""
    logs: defaultdict[Cell, list[float]] = defaultdict(list)
    for cell, latency_us in measured_us:
        known = cells.get(cell)
        if known is None or not known.measured:
            logs[cell].append(log(latency_us))
    gaps = {cell: CellSummary(cell, 1, sum(found) / len(found), 0, 0, 0, 0) for cell, found in logs.items()}
    # What the fleet says of a cell without a latency (it failed there) stays.
    return {**cells, **{cell: _with_fleet(gap, cells.get(cell)) for cell, gap in gaps.items()}}


def _with_fleet(gap: CellSummary, known: CellSummary | None) -> CellSummary:
    if known is None:
        return gap
    return CellSummary(
        gap.cell, 1, gap.log_p50_us, known.golden_checked, known.golden_failed, known.failures, known.starts
    )
