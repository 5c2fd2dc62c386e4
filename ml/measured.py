"""Rows of measured cells: by model, by unit, each cell once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ml.kernels import Cells
from ml.table import Index, Numbers


class Measured(NamedTuple):
    """Rows of measured cells, each cell once: codes, log latency, noise variance."""

    cells: Cells
    log_ms: Numbers
    noise: Numbers

    def take(self, rows: NDArray[np.bool_] | Index) -> Measured:
        """The rows at an index or mask."""
        return Measured(self.cells.take(rows), self.log_ms[rows], self.noise[rows])


def by_model(codes: Index) -> Iterator[tuple[int, Index]]:
    """Each model's code with its rows."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    for rows in np.split(order, starts[1:]):
        if len(rows):
            yield int(codes[rows[0]]), rows


def unit_rows(units: Index) -> Iterator[Index]:
    """Row numbers (units, arms), units of one size together."""
    order = np.argsort(units, kind="stable")
    _, starts, sizes = np.unique(units[order], return_index=True, return_counts=True)
    for size in np.unique(sizes).tolist():
        yield order[starts[sizes == size][:, None] + np.arange(size)]


def distinct(cells: Cells) -> Cells:
    """Each cell once, in order of codes."""
    return Cells(*np.unique(np.stack(cells), axis=1))


def joined(first: Measured, second: Measured) -> Measured:
    """Rows of both."""
    cells = Cells(*(np.concatenate(pair) for pair in zip(first.cells, second.cells, strict=True)))
    return Measured(cells, np.concatenate([first.log_ms, second.log_ms]), np.concatenate([first.noise, second.noise]))


def merged(measured: Measured) -> Measured:
    """Each cell once: rows of one cell by their precision-weighted mean, which tells a Gaussian process the same."""
    order = np.lexsort(
        (measured.noise, measured.log_ms, measured.cells.arm, measured.cells.chipset, measured.cells.model)
    )
    cells, log_ms, precision = measured.cells.take(order), measured.log_ms[order], 1 / measured.noise[order]
    change = np.stack([np.diff(code, prepend=-1) != 0 for code in cells]).any(axis=0)
    starts = np.flatnonzero(change)
    total = np.add.reduceat(precision, starts) if len(starts) else precision
    pulled = np.add.reduceat(precision * log_ms, starts) if len(starts) else log_ms
    return Measured(cells.take(starts), pulled / total, 1 / total)
