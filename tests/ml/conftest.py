"""A small part of the measured table, and its whole; and rates for a table at the end of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ml.datasets
from ml.table import Table, decision_subset, read_table

AIHUB = Path(ml.datasets.__file__).parent / "aihub.parquet"


@pytest.fixture
def note_rates(record_property: Callable[[str, object], None]) -> Callable[[str, str, str], None]:
    """Note (what was planted, at which size, how often it was found) for the table at the end of the run."""
    return lambda what, size, rates: record_property("rates", (what, size, rates))


@pytest.fixture(scope="session")
def aihub() -> Table:
    """Every unit with a choice."""
    return decision_subset(read_table(AIHUB))


@pytest.fixture(scope="session")
def some_aihub(aihub: Table) -> Table:
    """Six chipsets and every eighth model: about 600 rows."""
    chipsets = np.unique(aihub.chipset)[[2, 3, 10, 13, 14, 15]]
    models = np.unique(aihub.model)[::8]
    return decision_subset(aihub.take(np.isin(aihub.chipset, chipsets) & np.isin(aihub.model, models)))
