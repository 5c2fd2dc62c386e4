"""What partial delegation is expected to cost before anything is measured."""

from __future__ import annotations

from typing import Final

import numpy as np

from ml.table import Numbers

COVERAGE: Final = (0.0, 0.7, 0.8, 0.925, 0.975, 1.0)
LOG_COST: Final = tuple(float(np.log(ratio)) for ratio in (15.0, 15.0, 15.0, 2.8, 1.97, 1.0))
"""Medians over partly delegated against fully delegated cells on AI Hub: 1.97 × at 95–<100 % coverage, 2.8 × at
90–95 %, 15 × at 70–90 %. Below, no more is assumed: most of the graph runs on the CPU already."""


def coverage_log_cost(coverage: Numbers) -> Numbers:
    """Expected log of (latency ÷ latency at full coverage), linear between the points; 0 where coverage is unknown."""
    return np.where(np.isnan(coverage), 0.0, np.interp(coverage, COVERAGE, LOG_COST))
