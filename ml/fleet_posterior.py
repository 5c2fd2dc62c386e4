"""Posterior of every candidate of a fleet, population by population."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ml.coverage_prior import coverage_log_cost
from ml.latency import LatencyModel
from ml.memory import Memory
from ml.posterior import Posterior, UnitGroup
from ml.table import Index, Numbers, Table, arm_part, concatenate

REPORT_VARIANCE: Final = 0.08**2
"""Variance of one report's median log latency around the class's: 92 % at σ = 0.04, 8 % at σ = 0.25."""

CLASS_VARIANCE: Final = 0.02**2
"""What no number of reports removes: phones of one class are not quite alike (assumed)."""


def fleet_posterior(
    observations: Table, candidates: Table, reports: Index, random_state: int, memory: Memory
) -> Posterior:
    """Posterior of every candidate. Populations that share neither device class nor model are fitted apart.

    Variances are those that `memory` has or fits; it keeps them for the next run.
    """
    together = concatenate(observations, candidates)
    population = _populations(together)
    noise = REPORT_VARIANCE / np.maximum(reports, 1) + CLASS_VARIANCE
    prior = coverage_log_cost(_delegated_coverage(together))
    seen, asked = np.arange(len(observations)), np.arange(len(observations), len(together))
    mean, sd = np.zeros(len(candidates)), np.zeros(len(candidates))
    groups: list[UnitGroup] = []
    for number in np.unique(population[asked]).tolist():
        known, wanted = seen[population[seen] == number], asked[population[asked] == number]
        table = together.take(wanted)
        measured = together.take(known)
        measured = replace(measured, latency_ms=measured.latency_ms / np.exp(prior[known]))
        variances = memory.variances(measured, random_state)
        model = LatencyModel(variances, n_inducing=_inducing(table, len(known)), random_state=random_state)
        model.fit(measured, noise_var=noise[known], universe=table)
        found = model.posterior(table)
        rows = wanted - len(observations)
        mean[rows], sd[rows] = found.mean + prior[wanted], found.sd
        groups += [UnitGroup(rows[group.rows], group.covariance) for group in found.groups]
    return Posterior(mean, sd, tuple(groups))


def _delegated_coverage(table: Table) -> Numbers:
    """Coverage of each row, unknown (NaN) for CPU arms: they delegate nothing and lose nothing by it."""
    coverage = table.number.get("coverage", np.full(len(table), np.nan))
    return np.where(arm_part(table, "delegate") == "cpu", np.nan, coverage)


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
