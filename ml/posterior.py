"""Joint posterior of the arms of each unit, and what follows from it: who is best, and what a choice may cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ml.table import Index, Numbers

Stack = NDArray[np.float64]


class UnitGroup(NamedTuple):
    """Units with the same number of arms: `rows` (units, arms) and `covariance` (units, arms, arms)."""

    rows: Index
    covariance: Stack


class Joint(NamedTuple):
    """Whole units of one model: `rows` (n,) and their covariance (n, n), across units as well."""

    rows: Index
    covariance: Stack


@dataclass(frozen=True)
class Posterior:
    """Posterior of log latency (log ms) at n cells: `mean`, `sd` (n,), and the units' covariances.

    Every row is in exactly one unit. `sd` is that of the cell's true log latency, without the noise of one reading.
    `across` makes the covariances across the units of a model, one after the other: all at once they may not fit.
    """

    mean: Numbers
    sd: Numbers
    groups: tuple[UnitGroup, ...]
    across: Callable[[], Iterable[Joint]] | None = None

    def joints(self) -> Iterator[Joint]:
        """Every row in exactly one; each unit by itself where nothing across units is known."""
        if self.across is not None:
            yield from self.across()
        else:
            yield from (Joint(*unit) for group in self.groups for unit in zip(*group, strict=True))

    def best(self) -> NDArray[np.bool_]:
        """Marks the arm of lowest posterior mean of every unit (of equals the first)."""
        marks = np.zeros(len(self.mean), dtype=np.bool_)
        for group in self.groups:
            leader = self.mean[group.rows].argmin(axis=1)
            marks[group.rows[np.arange(len(leader)), leader]] = True
        return marks

    def best_probability(self, draws: int = 256, allowed: NDArray[np.bool_] | None = None) -> Numbers:
        """Probability that an arm is the fastest of its unit's allowed ones; 0 for an arm that is not allowed."""
        chance = np.zeros(len(self.mean))
        for group, sample in self._samples(draws, allowed):
            winner = sample.argmin(axis=2)
            counts = np.stack([(winner == arm).mean(axis=1) for arm in range(group.rows.shape[1])], axis=1)
            chance[group.rows] = counts
        return chance if allowed is None else np.where(allowed, chance, 0.0)

    def expected_excess(self, cap: float, draws: int = 256, allowed: NDArray[np.bool_] | None = None) -> Numbers:
        """E[min(cost ÷ best − 1, cap)] of serving each arm, against the unit's allowed arms; the cap where there is none."""
        excess = np.zeros(len(self.mean))
        for group, sample in self._samples(draws, allowed):
            best = sample.min(axis=2, keepdims=True)
            ratio = np.expm1(np.minimum(sample - np.where(np.isinf(best), 0.0, best), 50.0))
            excess[group.rows] = np.minimum(ratio, cap).mean(axis=1)
        return excess

    def _samples(self, draws: int, allowed: NDArray[np.bool_] | None) -> Iterator[tuple[UnitGroup, Stack]]:
        """Samples (units, draws, arms) of each group; arms that are not allowed are infinitely slow."""
        for group in self.groups:
            noise = _normals(draws, group.rows.shape[1]) @ _root(group)
            sample = self.mean[group.rows][:, None, :] + noise
            if allowed is not None:
                sample = np.where(allowed[group.rows][:, None, :], sample, np.inf)
            yield group, sample


def _normals(draws: int, arms: int) -> Stack:
    """The same numbers for every unit and call: comparisons between arms and units do not jitter."""
    return np.random.default_rng(arms).standard_normal((draws, arms))


def _root(group: UnitGroup) -> Stack:
    """Transposed square roots of the covariances, (units, arms, arms)."""
    values, vectors = np.linalg.eigh(group.covariance)
    return np.swapaxes(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :], 1, 2)
