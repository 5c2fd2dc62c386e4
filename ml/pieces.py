"""What an arm pays, in log cost, that would run a graph in pieces and that nobody has measured: it needs a clear win."""

from __future__ import annotations

from typing import Final

import numpy as np

from ml.limits import CellFacts
from ml.table import Index, Numbers

WHOLE: Final = 0.95
"""Share of nodes from which a driver is said to take a graph, as the out-of-the-box rule has it."""

FEW_CUTS: Final = 2
"""A graph whose head and tail stay on the CPU is cut twice and is no graph in pieces."""

CLEAR_LOG_COST: Final = float(np.log(2.0))
"""Such an arm was seen at half the CPU's speed, 10 views a second for 20 (aki65/aki65.github.io#58), and elsewhere at no
more than 1.3 × a GPU's (90 against 120 ms, tensorflow/tensorflow#43541): what is lost is more than what is won."""


def in_pieces(facts: CellFacts, reports: Index) -> Numbers:
    """Log cost to add to each candidate in the order; 0 from the first report of its own on, and where nothing is known."""
    count = len(reports)
    cut = (facts.column("cuts", count) > FEW_CUTS) & (facts.column("delegated_share", count) < WHOLE)
    return np.where(cut & (reports == 0), CLEAR_LOG_COST, 0.0)
