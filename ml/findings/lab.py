"""What a lab should soak: accelerators of a phone that throttles, whose own heat nobody has measured.

Heat is the phone's. Where one driver of a SoC was seen to throttle its neighbours may, but phones that leave a slow GPU
alone never measure it hot, and trying it on people would cost more than knowing it is worth. A lab phone can: half an hour
of one arm, measured before it is hot and after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from ml.findings.finding import Finding, by_cohort
from ml.findings.thermal import MIN_WINDOWS, hot_and_cool
from ml.rollup import Rollup

CELLS: Final = 2
"""Models to soak on each driver: two that agree are no accident of one graph."""


@dataclass(frozen=True, order=True)
class Soak:
    """One arm of one model to run for half an hour on a phone of the SoC."""

    soc: str
    app: str
    model: str
    arm: str

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def soaks(findings: Iterable[Finding], rollups: Iterable[Rollup], soc_of: Mapping[str, str]) -> list[Soak]:
    """What to soak, sorted: on every SoC with a thermal step the most used models of its other drivers."""
    hot = {finding.soc for finding in findings if finding.name == "thermal-step"}
    asked = []
    for cohort, rows in by_cohort(rollups, soc_of, precision=False).items():
        known = sum(pair.matched for pair in hot_and_cool(rows).values())
        if cohort.soc in hot and known < MIN_WINDOWS:
            asked += [Soak(cohort.soc, *cell[1:]) for cell in _most_used(rows)]
    return sorted(asked)


def _most_used(rows: Iterable[Rollup]) -> list[tuple[str, str, str, str]]:
    windows = Counter[tuple[str, str, str, str]]()
    for row in rows:
        windows[row.cell] += row.measured
    return [cell for cell, count in sorted(windows.items(), key=lambda item: (-item[1], item[0])) if count][:CELLS]
