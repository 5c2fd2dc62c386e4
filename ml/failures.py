"""How likely an arm is to fail where nobody has started it, and what that costs: hierarchical shares of failing cells.

A file that a driver refuses is refused on every phone of the stack, so cells are counted, not starts: a cell fails if
half of its starts did. The share of failing cells of an arm on a driver stack is drawn towards the arm's share on all
stacks, that one towards the share of all cells, and that one towards `ASSUMED_SHARE`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ml.table import Index, Numbers, Table

ASSUMED_SHARE: Final = 0.02
"""Failing cells of a fleet that has not reported any start (assumed)."""

PRIOR_CELLS: Final = 3.0
"""Cells that each wider level counts for."""

PRIOR_STARTS: Final = 1.0
"""Starts that the expectation for a cell counts for: a second start tells little that the first did not."""

FALLBACK_COST: Final = 4.0
"""Cost of a failed start over a good one: the next rung is made to fail in another way, a GPU or CPU for an NPU. Medians
of EfficientNet-Lite0 on SM8650: GPU 4.06, CPU 3.66 times the NPU's latency (m96-chan/DroidRunner)."""


def failure_probability(cells: Table, starts: Numbers, failures: Numbers) -> Numbers:
    """Probability that a start of each cell fails. `starts`, `failures` are counts by cell, NaN where unknown."""
    starts, failures = np.nan_to_num(starts), np.nan_to_num(failures)
    started = starts > 0
    failing = started & (2 * failures >= starts)
    everywhere = np.zeros(len(cells), dtype=np.intp)
    arm = np.unique(cells.arm, return_inverse=True)[1].astype(np.intp)
    stack = np.unique(cells.chipset, return_inverse=True)[1].astype(np.intp)
    expected = np.full(len(cells), ASSUMED_SHARE)
    for group in (everywhere, arm, stack * (int(arm.max(initial=0)) + 1) + arm):
        expected = _drawn(group, started, failing, expected)
    return np.asarray((failures + PRIOR_STARTS * expected) / (starts + PRIOR_STARTS))


def cost_of_failing(probability: Numbers) -> Numbers:
    """Expected cost over the cost of a start that works."""
    return 1.0 + probability * (FALLBACK_COST - 1.0)


def _drawn(group: Index, started: np.ndarray, failing: np.ndarray, towards: Numbers) -> Numbers:
    """Share of failing cells in each cell's group, drawn towards the wider level's share."""
    number = np.unique(group, return_inverse=True)[1]
    cells, failed = (np.bincount(number, mark.astype(np.float64))[number] for mark in (started, failing))
    return np.asarray((failed + PRIOR_CELLS * towards) / (cells + PRIOR_CELLS))
