"""Thermal step. Null: a hot window of the cohort takes at most 1.2 times as long as a cool one of the same cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import exp, log

from ml.findings.finding import Finding, by_cohort, mean_p_value
from ml.rollup import Cell, Rollup

NULL_LOG_RATIO = log(1.2)
MIN_PAIRS = 2


def detect(rollups: Iterable[Rollup], soc_of: Mapping[str, str]) -> Iterator[Finding]:
    """One hypothesis a cohort with at least two cells that were measured hot and cool."""
    for cohort, rows in by_cohort(rollups, soc_of, precision=False).items():
        pairs = hot_and_cool(rows)
        if len(pairs) < MIN_PAIRS:
            continue
        ratios = [hot - cool for hot, cool, _ in pairs.values()]
        factor = exp(sum(ratios) / len(ratios))
        evidence = tuple(
            {"model": cell.model, "arm": cell.arm, "cool_ms": exp(cool) / 1e3, "hot_ms": exp(hot) / 1e3, "windows": n}
            for cell, (hot, cool, n) in pairs.items()
        )
        windows = sum(n for _, _, n in pairs.values())
        detail = f"hot windows of {cohort.target} take {factor:.2f} × as long as cool ones, over {len(pairs)} cells"
        yield Finding("thermal-step", *cohort, mean_p_value(ratios, NULL_LOG_RATIO), windows, detail, evidence)


def hot_and_cool(rows: Iterable[Rollup]) -> dict[Cell, tuple[float, float, int]]:
    """By cell: (log p50 hot, log p50 cool, hot windows) where both were measured; workloads pooled by windows."""
    sums: defaultdict[Cell, dict[bool, list[tuple[float, int]]]] = defaultdict(lambda: {True: [], False: []})
    for row in rows:
        if row.measured:
            sums[row.cell][row.hot].append((row.log_p50_us, row.measured))
    return {
        cell: (_mean(sides[True]), _mean(sides[False]), sum(n for _, n in sides[True]))
        for cell, sides in sums.items()
        if sides[True] and sides[False]
    }


def _mean(parts: list[tuple[float, int]]) -> float:
    return sum(value * n for value, n in parts) / sum(n for _, n in parts)
