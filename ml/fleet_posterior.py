"""Posterior of every candidate of a fleet, population by population."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ml.latency import LatencyModel
from ml.memory import Memory
from ml.posterior import Joint, Posterior, UnitGroup
from ml.table import Index, Table, concatenate

REPORT_VARIANCE: Final = 0.08**2
"""Variance of one report's median log latency around the class's: 92 % at σ = 0.04, 8 % at σ = 0.25."""

CLASS_VARIANCE: Final = 0.02**2
"""What no number of reports removes: phones of one class are not quite alike (assumed)."""

MOST_TOGETHER: Final = 400
"""Cells of a model that are doubted together: beyond, their covariances cost more than all predictions. Classes part in order
of their names."""


class _Population(NamedTuple):
    """A model fitted to what a population measured, its candidates, and their rows among all."""

    model: LatencyModel
    candidates: Table
    rows: Index

    def joints(self) -> Iterator[Joint]:
        """Covariances across classes, model by model."""
        for rows in _together(self.candidates):
            (one,) = self.model.posterior(self.candidates.take(rows), np.zeros(len(rows), np.intp)).groups
            yield Joint(self.rows[rows[one.rows[0]]], one.covariance[0])


def fleet_posterior(
    observations: Table, candidates: Table, reports: Index, random_state: int, memory: Memory
) -> Posterior:
    """Posterior of every candidate. Populations that share neither device class nor model are fitted apart.

    Variances are those that `memory` has or fits; it keeps them for the next run.
    """
    together = concatenate(observations, candidates)
    population = _populations(together)
    noise = REPORT_VARIANCE / np.maximum(reports, 1) + CLASS_VARIANCE
    seen, asked = np.arange(len(observations)), np.arange(len(observations), len(together))
    mean, sd = np.zeros(len(candidates)), np.zeros(len(candidates))
    groups: list[UnitGroup] = []
    fitted: list[_Population] = []
    for number in np.unique(population[asked]).tolist():
        known, wanted = seen[population[seen] == number], asked[population[asked] == number]
        table = together.take(wanted)
        measured = together.take(known)
        variances = memory.variances(measured, random_state)
        model = LatencyModel(variances, n_inducing=_inducing(table, len(known)), random_state=random_state)
        model.fit(measured, noise_var=noise[known], universe=table)
        found = model.posterior(table)
        rows = wanted - len(observations)
        mean[rows], sd[rows] = found.mean, found.sd
        groups += [UnitGroup(rows[group.rows], group.covariance) for group in found.groups]
        fitted.append(_Population(model, table, rows))
    return Posterior(mean, sd, tuple(groups), lambda: (joint for one in fitted for joint in one.joints()))


def _together(table: Table) -> list[Index]:
    """Rows of each model, whole units side by side, parted after every `MOST_TOGETHER`."""
    order = np.lexsort((table.chipset, table.model))
    row, unit = np.arange(len(order)), table.units()[order]
    model = np.unique(table.model, return_inverse=True)[1][order]
    first_of_model, first_of_unit = (np.maximum.accumulate(np.where(_begins(of), row, 0)) for of in (model, unit))
    part = (first_of_unit - first_of_model) // MOST_TOGETHER
    return np.split(order, np.flatnonzero(_begins(model) | _begins(part))[1:])


def _begins(number: Index) -> NDArray[np.bool_]:
    return np.asarray(np.diff(number, prepend=-1) != 0)


def _populations(table: Table) -> Index:
    """Number of the connected component of each row, device classes and models being the nodes."""
    chips, chip = np.unique(table.chipset, return_inverse=True)
    models, model = np.unique(table.model, return_inverse=True)
    size = len(chips) + len(models)
    edges = coo_matrix((np.ones(len(table)), (chip, len(chips) + model)), shape=(size, size))
    _, component = connected_components(edges, directed=False)
    return np.asarray(component[chip], dtype=np.intp)


def _inducing(table: Table, measured: int) -> int:
    """Inducing cells for a population: one for each (device class, arm) and half as many again, within bounds.

    More than there are measured cells would carry nothing; over a thousand they cost more than they bring.
    """
    pairs = len(np.unique(np.char.add(np.char.add(table.chipset, "\n"), table.arm)))
    return int(np.clip(min(1.5 * pairs, measured), 300, 1000))
