"""Thermal step. Null: a hot window of the cohort takes at most 1.2 times as long as a cool one of the same cell.

A step, not a slope: windows on either side of `THERMAL_STATUS_MODERATE` are compared, whatever lies between them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import exp, log

from ml.findings.finding import Finding, mean_p_value, over_cells
from ml.findings.seen import Seen
from ml.rollup import Cell, Rollup

NULL_LOG_RATIO = log(1.2)
MIN_WINDOWS = 2
"""Hot windows that have a cool one of the same cell beside them: one alone may have been disturbed."""


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a cohort of which two windows were measured hot and, in the same cells, as many cool."""
    for cohort, rows in seen.drivers.items():
        pairs = hot_and_cool(rows)
        if sum(pair.matched for pair in pairs.values()) < MIN_WINDOWS:
            continue
        ratios = [pair.log_ratio for pair in pairs.values()]
        factor = exp(sum(ratios) / len(ratios))
        evidence = tuple(
            {
                "model": cell.model, "arm": cell.arm, "cool_ms": exp(pair.cool_log_us) / 1e3,
                "hot_ms": exp(pair.hot_log_us) / 1e3, "windows": pair.hot_windows,
            }
            for cell, pair in pairs.items()
        )  # fmt: skip
        windows = sum(pair.hot_windows for pair in pairs.values())
        detail = f"hot windows of {cohort.target} take {factor:.2f} × as long as cool ones, {over_cells(len(pairs))}"
        yield Finding("thermal-step", *cohort, mean_p_value(ratios, NULL_LOG_RATIO), windows, detail, evidence)


@dataclass(frozen=True, slots=True)
class HotAndCool:
    """One cell on either side: logarithms of the median latency in µs, and windows."""

    hot_log_us: float
    cool_log_us: float
    hot_windows: int
    cool_windows: int

    @property
    def log_ratio(self) -> float:
        """Logarithm of hot ÷ cool."""
        return self.hot_log_us - self.cool_log_us

    @property
    def matched(self) -> int:
        """Windows that have one of the other side beside them."""
        return min(self.hot_windows, self.cool_windows)


def hot_and_cool(rows: Iterable[Rollup]) -> dict[Cell, HotAndCool]:
    """Cells that were measured on both sides; workloads are pooled by windows. What does not say is on neither."""
    sums: defaultdict[Cell, dict[bool, list[tuple[float, int]]]] = defaultdict(lambda: {True: [], False: []})
    for row in rows:
        if row.measured and row.hot is not None:
            sums[row.cell][row.hot].append((row.log_p50_us, row.measured))
    return {
        cell: _pair(_mean(sides[True]), _mean(sides[False]))
        for cell, sides in sums.items()
        if sides[True] and sides[False]
    }


def _pair(hot: tuple[float, int], cool: tuple[float, int]) -> HotAndCool:
    return HotAndCool(hot[0], cool[0], hot[1], cool[1])


def _mean(parts: list[tuple[float, int]]) -> tuple[float, int]:
    windows = sum(n for _, n in parts)
    return sum(value * n for value, n in parts) / windows, windows
