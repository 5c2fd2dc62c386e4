"""What cohorts have measured, as the screen asks for it: read from rollups, remembered for a minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Set
from typing import Final

from sqlmodel import Session

from policies.cohort_screen import MIN_WINDOWS, Expected
from service.store import rollups

Cell = tuple[str, str, str, str]
"""Device class, app, model, arm."""

TTL_S: Final = 60.0
MOST_MODELS: Final = 20_000
_Model = tuple[str, str, str]


class Cohorts:
    """Medians of models on device classes. What a rollup changes is seen a minute later at the latest."""

    def __init__(self, timer_s: Callable[[], float] = time.monotonic) -> None:
        self._timer_s = timer_s
        self._until_s = 0.0
        self._medians: dict[_Model, dict[str, float]] = {}

    def expected(self, session: Session, cells: Set[Cell]) -> dict[Cell, Expected]:
        """What is expected of each cell; of one nobody has measured, nothing."""
        if self._timer_s() > self._until_s or len(self._medians) > MOST_MODELS:
            self._medians, self._until_s = {}, self._timer_s() + TTL_S
        medians = self._medians
        if missing := {cell[:3] for cell in cells} - medians.keys():
            medians |= {key: {} for key in missing} | rollups.medians_us(session, missing, MIN_WINDOWS)
        return {cell: _expected(medians[cell[:3]], cell[3]) for cell in cells}


def _expected(arms: dict[str, float], arm: str) -> Expected:
    return Expected(arms.get(arm), min(arms.values(), default=None))
