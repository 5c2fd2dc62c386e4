"""How much of each model drivers really took over, as a heat map: models down, drivers across. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

MOST_DRIVERS: Final = 14
LEVELS: Final = (0.5, 0.7, 0.9, 0.95)
"""From which share on a cell is drawn a level stronger; from the last on, an accelerator leads without being asked."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Share of nodes delegated, averaged over `windows`; `level` 0…4 says how strongly it is drawn."""

    part: float
    windows: int

    @property
    def level(self) -> int:
        """How many of `LEVELS` it reaches."""
        return sum(self.part >= least for least in LEVELS)


@dataclass(frozen=True, slots=True)
class CoverageMap:
    """`rows`: a name and a cell each driver, None where nothing was measured. `left_out`: drivers that found no room."""

    drivers: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    left_out: int


def coverage_map(measured: Iterable[tuple[str, str, int, float]], names: Sequence[str]) -> CoverageMap | None:
    """From (name, arm, windows that tell, sum of their shares): a row each of `names`; None where no window tells.

    The drivers with the most windows come first; the CPU delegates nothing and is left out.
    """
    shares: defaultdict[tuple[str, str], float] = defaultdict(float)
    windows: Counter[tuple[str, str]] = Counter()
    by_driver: Counter[str] = Counter()
    for name, arm, count, total in measured:
        driver = arm.split(".", 2)[-1]
        if driver != "cpu" and count:
            shares[name, driver] += total
            windows[name, driver] += count
            by_driver[driver] += count
    drivers = tuple(name for name, _ in by_driver.most_common(MOST_DRIVERS))
    if not drivers:
        return None

    def cell(name: str, driver: str) -> Cell | None:
        count = windows[name, driver]
        return Cell(shares[name, driver] / count, count) if count else None

    rows = tuple((name, tuple(cell(name, driver) for driver in drivers)) for name in names)
    return CoverageMap(drivers, rows, len(by_driver) - len(drivers))
