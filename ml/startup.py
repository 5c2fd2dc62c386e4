"""What starting an arm adds to each run of a session: loading, and compiling as often as starts find no cache."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from ml.rollup import Cell, CellSummary
from ml.table import Numbers

SESSION_RUNS: Final = 1000.0
"""Runs that bear one start: minutes of use at a few runs a second (assumed). Windows of telemetry are slices of that."""


def startup_ms(cells: Sequence[Cell], measured: Mapping[Cell, CellSummary]) -> Numbers:
    """Start-up per run of each cell, ms. Where its starts were not timed, that of like arms: of the same format and
    executor on the same stack, else on any; 0 where nobody timed one.
    """
    by_stack = _means(((cell.group, _path(cell)), summary) for cell, summary in measured.items())
    anywhere = _means((("", _path(cell)), summary) for cell, summary in measured.items())
    found = []
    for cell in cells:
        own = measured.get(cell)
        guess = by_stack.get((cell.group, _path(cell)), anywhere.get(("", _path(cell)), 0.0))
        found.append(guess if own is None or own.startup_us is None else own.startup_us)
    return np.array(found) / (1e3 * SESSION_RUNS)


def _path(cell: Cell) -> str:
    """Format and executor of the arm: its id without the precision."""
    return cell.arm.split(".", 1)[-1]


def _means(summaries: Iterable[tuple[tuple[str, str], CellSummary]]) -> dict[tuple[str, str], float]:
    known: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for key, summary in summaries:
        if summary.startup_us is not None:
            known[key].append(summary.startup_us)
    return {key: sum(values) / len(values) for key, values in known.items()}
