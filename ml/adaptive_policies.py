"""Who is sent to measure what: our way, and simpler ones beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Protocol

import numpy as np

from ml.probes import probes
from ml.pupil import Pupil
from ml.rankings import Rankings
from ml.recommend import ranked
from ml.reports import Reports
from ml.table import Index, Numbers, Table

GREEDY_EXPLORES: Final = 0.2


class Policy(Protocol):
    """Learns from all reports heard so far, then says where the next explorers go."""

    def learn(self, reports: Reports) -> Index:
        """Row of each unit's leader."""

    def probe(self, count: int, rng: np.random.Generator) -> Index:
        """Rows to measure."""


class Modelled:
    """Leaders by the latency model; where explorers go is told apart below."""

    def __init__(self, cells: Table, seed: int) -> None:
        self.cells, self.pupil, self.seed = cells, Pupil(cells, seed), seed
        self.rankings: Rankings

    def learn(self, reports: Reports) -> Index:
        """Leaders of `ml.recommend` on the reports so far."""
        heard = replace(self.cells.take(reports.row), latency_ms=np.exp(reports.log_ms))
        ones = np.ones(len(reports), np.intp)
        self.rankings = ranked(self.pupil.follow(reports), self.cells, heard, ones)
        return self.rankings.leader

    def probe(self, count: int, rng: np.random.Generator) -> Index:
        """Where knowing more pays (`ml.explore`)."""
        return probes(self.rankings, count, rng)


class Uniform(Modelled):
    """The same model; explorers take any arm of any unit."""

    def probe(self, count: int, rng: np.random.Generator) -> Index:
        """A random arm of random units."""
        return any_arm(self.rankings.unit, _units(self.rankings, count, rng), rng)


class Greedy(Uniform):
    """The same model; of random units, four explorers in five repeat the leader."""

    def probe(self, count: int, rng: np.random.Generator) -> Index:
        """ε-greedy."""
        units = _units(self.rankings, count, rng)
        other = any_arm(self.rankings.unit, units, rng)
        return np.where(rng.random(count) < GREEDY_EXPLORES, other, self.rankings.leader[units])


class NoExploration(Modelled):
    """The same model; nobody ever tries anything but the leader."""

    def probe(self, count: int, rng: np.random.Generator) -> Index:
        """The leaders of random units."""
        return self.rankings.leader[_units(self.rankings, count, rng)]


class NoModel:
    """What one can do without a model: an arm's usual place among others, and the unit's own reports.

    A cell never measured is predicted by the unit's level plus the arm's mean over all units.
    """

    def __init__(self, cells: Table, seed: int) -> None:
        self.unit = cells.units()
        self.arm = np.unique(cells.arm, return_inverse=True)[1]
        self.tie = np.random.default_rng(seed).random(len(self.unit))

    def learn(self, reports: Reports) -> Index:
        """The lowest predicted arm of each unit."""
        own = _mean_by(reports.row, reports.log_ms, len(self.unit))
        level = _mean_by(self.unit, own)[self.unit]
        arm = np.nan_to_num(_mean_by(self.arm, own - level)[self.arm])
        level = np.nan_to_num(_mean_by(self.unit, own - arm))[self.unit]
        score = np.where(np.isnan(own), level + arm, own)
        order = np.lexsort((self.tie, score, self.unit))
        return order[np.flatnonzero(np.diff(self.unit[order], prepend=-1))]

    def probe(self, count: int, rng: np.random.Generator) -> Index:
        """A random arm of random units."""
        units = rng.choice(int(self.unit.max()) + 1, count, replace=False)
        return any_arm(self.unit, units, rng)


def any_arm(unit: Index, units: Index, rng: np.random.Generator) -> Index:
    """A random row of each of some units; `unit` is the unit of every row."""
    order = np.lexsort((rng.random(len(unit)), unit))
    return order[np.flatnonzero(np.diff(unit[order], prepend=-1))][units]


def _units(rankings: Rankings, count: int, rng: np.random.Generator) -> Index:
    return rng.choice(len(rankings), count, replace=False)


def _mean_by(group: Index, values: Numbers, count: int | None = None) -> Numbers:
    """Mean of the known values of each group; NaN where none is known."""
    count = int(group.max(initial=-1)) + 1 if count is None else count
    known = np.isfinite(values)
    total = np.bincount(group[known], values[known], count)
    number = np.bincount(group[known], minlength=count)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


POLICIES: Final[Mapping[str, Callable[[Table, int], Policy]]] = MappingProxyType(
    {
        "nnfleet": Modelled,
        "uniform exploration": Uniform,
        "ε-greedy": Greedy,
        "no exploration": NoExploration,
        "no model": NoModel,
    }
)
