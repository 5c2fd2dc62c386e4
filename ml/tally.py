"""Choices and interval hits, collected by setting and method, and pooled into rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ml.metrics import Choices, Row, summary
from ml.table import Numbers

Hits = NDArray[np.bool_]


@dataclass
class Tally:
    """What an evaluation has seen so far. Rows come out in the order in which their settings and methods came in."""

    protocol: str
    seeds: int
    choices: defaultdict[tuple[str, str], list[Choices]] = field(default_factory=lambda: defaultdict(list))
    inside: defaultdict[tuple[str, str], list[tuple[Hits, Hits]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, setting: str, method: str, choices: Choices) -> None:
        """The choices of a method in one trial."""
        self.choices[setting, method].append(choices)

    def add_intervals(self, setting: str, method: str, error: Numbers, half_widths: tuple[Numbers, Numbers]) -> None:
        """Errors |y − mean| of log latency and the half widths of the method's 80 % and 95 % intervals."""
        narrow, wide = half_widths
        self.inside[setting, method].append((error <= narrow, error <= wide))

    def rows(self) -> list[Row]:
        """One row a setting and method."""
        return [self._row(setting, method, found) for (setting, method), found in self.choices.items()]

    def _row(self, setting: str, method: str, found: list[Choices]) -> Row:
        hits = self.inside.get((setting, method))
        row = Row(self.protocol, setting, method, self.seeds, **summary(found))
        if not hits:
            return row
        narrow, wide = (float(np.concatenate(part).mean()) for part in zip(*hits, strict=True))
        return replace(row, interval_80=narrow, interval_95=wide)
