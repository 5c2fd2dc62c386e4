"""What partial delegation is expected to cost before anything is measured.

`python -m ml.coverage_prior TABLE…` prints what partly delegated cells came to in tidy tables: their latency over the median
of the fully delegated cells of the same chipset and model.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from ml.features import number_column
from ml.table import Numbers, Table, TableError, arm_part, decision_subset, read_table

BINS: Final = ((0.0, 0.7), (0.7, 0.9), (0.9, 0.95), (0.95, 1.0))
COVERAGE: Final = (0.35, 0.85, 0.925, 0.975, 1.0)
LOG_COST: Final = tuple(float(np.log(ratio)) for ratio in (4.0, 3.5, 3.0, 1.3, 1.0))
"""By coverage in the middle of each bin: medians of releases 0.56.0 and 0.60.0 of AI Hub. Below the first no more is assumed:
most of the graph runs on the CPU already."""


def coverage_log_cost(coverage: Numbers) -> Numbers:
    """Expected log of (latency ÷ latency at full coverage), linear between the points; 0 where coverage is unknown."""
    return np.where(np.isnan(coverage), 0.0, np.interp(coverage, COVERAGE, LOG_COST))


def partial_log_cost(table: Table) -> Numbers:
    """The same for the rows of a table. CPU arms delegate nothing and lose nothing by it."""
    return coverage_log_cost(np.where(arm_part(table, "delegate") == "cpu", np.nan, number_column(table, "coverage")))


def partial_ratios(table: Table) -> tuple[Numbers, Numbers]:
    """Coverage and cost ratio of every partly delegated cell that a fully delegated one of its unit stands beside."""
    coverage, unit, log_ms = number_column(table, "coverage"), table.units(), table.log_ms
    full = {
        int(one): float(np.median(log_ms[(unit == one) & (coverage >= 1)])) for one in np.unique(unit[coverage >= 1])
    }
    partly = np.flatnonzero((coverage < 1) & np.isin(unit, list(full)))
    return coverage[partly], np.exp(log_ms[partly] - [full[int(one)] for one in unit[partly]])


def _lines(coverage: Numbers, ratio: Numbers) -> Iterator[str]:
    for low, high in BINS:
        inside = ratio[(coverage >= low) & (coverage < high)]
        if len(inside):
            yield f"{low:.2f} to {high:.2f}: {np.median(inside):.2f} × in the median of {len(inside)} cells\n"


def main(files: Sequence[str] | None = None) -> int:
    """Command line."""
    try:
        tables = [decision_subset(read_table(Path(name))) for name in (sys.argv[1:] if files is None else files)]
    except TableError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    found = [partial_ratios(table) for table in tables]
    if found:
        sys.stdout.writelines(_lines(*(np.concatenate(column) for column in zip(*found, strict=True))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
