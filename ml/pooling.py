"""Device classes of one driver stack, pooled so that none of them decides for all.

Whoever knows a class's report can send windows in its name, as many as quotas let through: a few made-up phones are one
class. Classes of a stack share its drivers, so what a driver does shows in each of them. Where three classes or more
tried a cell, its latency is the middle one of theirs, and failures are counted without the class that speaks against the
arm most. Fewer classes cannot contradict each other: they are believed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ml.rollup import Cell, CellSummary, Rollup, regrouped, summaries

MIN_CLASSES: Final = 3
MOST_WINDOWS: Final = 30
"""Windows of a class that its word gains weight by: more of them tell the class apart, not its stack (assumed)."""


def pooled(by_class: Iterable[Rollup], stack_of: Mapping[str, str]) -> dict[Cell, CellSummary]:
    """What was measured, by driver stack. Classes without one are left out."""
    rows = list(by_class)
    classes: defaultdict[Cell, list[CellSummary]] = defaultdict(list)
    for cell, summary in summaries(rows).items():
        if cell.group in stack_of:
            classes[cell._replace(group=stack_of[cell.group])].append(summary)
    return {cell: _agreed(summary, classes[cell]) for cell, summary in summaries(regrouped(rows, stack_of)).items()}


def _agreed(together: CellSummary, classes: Sequence[CellSummary]) -> CellSummary:
    failures, starts = _without_worst([(one.failures, one.starts) for one in classes])
    golden_failed, golden_checked = _without_worst([(one.golden_failed, one.golden_checked) for one in classes])
    non_finite, _ = _without_worst([(one.non_finite, one.golden_checked) for one in classes])
    too_good, _ = _without_worst([(one.too_good, one.too_good + one.measured) for one in classes])
    timed = [one for one in classes if one.measured]
    return replace(
        together, failures=failures, starts=starts, golden_failed=golden_failed, golden_checked=golden_checked,
        non_finite=non_finite, too_good=too_good,
        log_p50_us=_middle(timed) if len(timed) >= MIN_CLASSES else together.log_p50_us,
    )  # fmt: skip


def _middle(classes: Sequence[CellSummary]) -> float:
    """Median of the classes' log latencies, weighted by their windows; between two, their mean."""
    ordered = sorted(classes, key=lambda one: one.log_p50_us)
    upto = np.cumsum([min(one.measured, MOST_WINDOWS) for one in ordered])
    low, high = (int(np.searchsorted(upto, upto[-1] / 2, side=side)) for side in ("left", "right"))
    return (ordered[low].log_p50_us + ordered[high].log_p50_us) / 2


def _without_worst(counts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Failures and trials, without those of the class whose leaving lowers their share most."""
    tried = [(failed, trials) for failed, trials in counts if trials]
    failed, trials = (sum(column) for column in zip(*tried, strict=True)) if tried else (0, 0)
    if len(tried) < MIN_CLASSES:
        return failed, trials
    return min(((failed - own, trials - tries) for own, tries in tried), key=lambda left: left[0] / left[1])
