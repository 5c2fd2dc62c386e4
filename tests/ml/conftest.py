"""A small part of the measured table, and its whole; and a table of rates at the end of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import pytest

import ml.datasets
from ml.table import Table, decision_subset, read_table

AIHUB = Path(ml.datasets.__file__).parent / "aihub.parquet"


RATES: Final = pytest.StashKey[list[tuple[str, str, str]]]()


@pytest.fixture
def note_rates(pytestconfig: pytest.Config) -> Callable[[str, str, str], None]:
    """Note (what was planted, at which size, how often it was found) for the table at the end of the run."""
    rows = pytestconfig.stash.setdefault(RATES, [])
    return lambda what, size, rates: rows.append((what, size, rates))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what the simulations of this run came to."""
    rows = config.stash.get(RATES, [])
    if rows:
        terminalreporter.section("detection and false alarms")
        widths = [max(len(row[column]) for row in rows) for column in range(2)]
        for what, size, rates in rows:
            terminalreporter.write_line(f"{what:<{widths[0]}}  {size:<{widths[1]}}  {rates}")


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
