"""From observations to rankings: for every device class and model, which arm first, at what expected cost, how sure.

Pure: the same observations and candidates give the same rankings. Device classes stand in the `chipset` column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr

from ml.coverage_prior import coverage_log_cost
from ml.failures import cost_of_failing, failure_probability
from ml.latency import LatencyModel
from ml.limits import CellFacts, Exclusion, Limits, exclusions
from ml.posterior import Posterior, UnitGroup
from ml.refit import adapted
from ml.table import Index, Numbers, Table, arm_part, arm_path, concatenate

REPORT_VARIANCE: Final = 0.08**2
"""Variance of one report's median log latency around the class's: 92 % at σ = 0.04, 8 % at σ = 0.25."""

CLASS_VARIANCE: Final = 0.02**2
"""What no number of reports removes: phones of one class are not quite alike (assumed)."""

SAFE_REGRET: Final = 2.5
"""An arm whose 95th percentile of regret stays under this may lead for a model that nobody has measured."""

GUARD_LOG_COST: Final = 20.0
"""More than any two arms differ in log cost: puts an arm behind all that are not guarded."""

MIN_UNITS: Final = 10
"""Units with two measured arms before an arm's regret is believed."""


@dataclass(frozen=True)
class RankedArm:
    """One arm of one unit. `regret` is the expected cost over the best allowed arm, minus 1 and capped."""

    arm: str
    cost_ms: float
    latency_ms: float
    log_sd: float
    reports: int
    best_probability: float
    target_probability: float
    regret: float
    excluded: Exclusion


@dataclass(frozen=True)
class Ranking:
    """The allowed arms of a device class and model in order of trial, then those kept out, with their reasons.

    `measured`: whether any device has measured this model at all.
    """

    device_class: str
    model: str
    arms: tuple[RankedArm, ...]
    excluded: tuple[RankedArm, ...]
    measured: bool


@dataclass(frozen=True)
class Rankings:
    """All rankings as columns over the candidate cells; iterate for `Ranking` records.

    `cells` (n rows), `mean` and `sd` of log latency (log ms), `cost_ms`, `reports`, `best_probability`, `regret`,
    `target_probability` (NaN without a target), `excluded` (`Exclusion` values), `guarded` (an unmeasured model's arm
    that is not known to be safe), `measured` (model), `unit` (n,) and `order`: row numbers, units together, best
    first, excluded last.
    """

    cells: Table
    mean: Numbers
    sd: Numbers
    cost_ms: Numbers
    reports: Index
    best_probability: Numbers
    regret: Numbers
    target_probability: Numbers
    excluded: NDArray[np.str_]
    guarded: NDArray[np.bool_]
    measured: NDArray[np.bool_]
    unit: Index
    order: Index

    @cached_property
    def starts(self) -> Index:
        """Where each unit starts in `order`, with the end appended."""
        sizes = np.bincount(self.unit, minlength=int(self.unit.max(initial=-1)) + 1)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)

    @cached_property
    def leader(self) -> Index:
        """Row of each unit's first arm (an excluded one where every arm is excluded)."""
        return self.order[self.starts[:-1]]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[Ranking]:
        for start, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            yield self._ranking(self.order[start:end])

    def _ranking(self, rows: Index) -> Ranking:
        arms = [self._arm(row) for row in rows.tolist()]
        first = rows[0]
        return Ranking(
            str(self.cells.chipset[first]),
            str(self.cells.model[first]),
            tuple(arm for arm in arms if not arm.excluded),
            tuple(arm for arm in arms if arm.excluded),
            bool(self.measured[first]),
        )

    def _arm(self, row: int) -> RankedArm:
        return RankedArm(
            str(self.cells.arm[row]),
            float(self.cost_ms[row]),
            float(np.exp(self.mean[row])),
            float(self.sd[row]),
            int(self.reports[row]),
            float(self.best_probability[row]),
            float(self.target_probability[row]),
            float(self.regret[row]),
            Exclusion(str(self.excluded[row])),
        )


def recommend(
    observations: Table,
    candidates: Table,
    *,
    reports: Index,
    facts: CellFacts | None = None,
    limits: Limits | None = None,
    regret_cap: float = 2.0,
    random_state: int = 0,
) -> Rankings:
    """Rank the arms of every (device class, model) among `candidates`.

    observations : measured cells, `latency_ms` the median (or geometric mean) of each; may be empty.
    candidates : the cells that exist, with `chip_*`, `family`, `task`, `params`, `coverage` where known.
    reports : (rows of observations,) independent reports behind each median.
    facts : constraints by candidate cell (`CellFacts`), same order as `candidates`.
    Raises ValueError where lengths differ or a latency is not positive.
    """
    facts, limits = facts or CellFacts(), limits or Limits()
    count = len(candidates)
    if len(reports) != len(observations) or any(len(column) != count for column in facts.columns.values()):
        raise ValueError("reports go with observations, facts with candidates: lengths differ")
    excluded = exclusions(facts, count, limits)
    allowed = excluded == Exclusion.NONE.value
    posterior = _posterior(observations, candidates, reports, random_state)
    startup = np.nan_to_num(facts.column("startup_ms", count))
    failing = failure_probability(candidates, facts.column("runs", count), facts.column("errors", count))
    cost = (np.exp(posterior.mean) + startup) * cost_of_failing(failing)
    in_cost = Posterior(np.log(cost), posterior.sd, posterior.groups)
    measured = np.isin(candidates.model, observations.model)
    known = _reports_of(observations, candidates, reports)
    guarded = ~measured & ~np.isin(candidates.arm, safe_arms(observations))
    unit = candidates.units()
    return Rankings(
        candidates,
        posterior.mean,
        posterior.sd,
        cost,
        known,
        in_cost.best_probability(allowed=allowed),
        in_cost.expected_excess(regret_cap, allowed=allowed),
        _target_probability(posterior, facts.column("target_ms", count)),
        excluded,
        guarded,
        measured,
        unit,
        np.lexsort((candidates.arm, decision_score(np.log(cost), guarded), ~allowed, unit)),
    )


def decision_score(log_cost: Numbers, guarded: NDArray[np.bool_]) -> Numbers:
    """What arms are ordered by, lowest first: expected log cost, guarded arms after all others.

    Doubt about a latency adds nothing: terms for risk chose worse arms on an earlier release of AI Hub. Doubt whether
    an arm runs at all does, through the cost of failing.
    """
    return log_cost + np.where(guarded, GUARD_LOG_COST, 0.0)


def safe_arms(observations: Table) -> NDArray[np.str_]:
    """Arms whose measured regret (their latency over the unit's best) has a 95th percentile under 2.5."""
    unit = observations.units()
    best = np.full(int(unit.max(initial=-1)) + 1, np.inf)
    np.minimum.at(best, unit, observations.latency_ms)
    compared = np.bincount(unit, minlength=len(best))[unit] >= 2
    regret = observations.latency_ms / best[unit]
    arms = np.unique(observations.arm)
    rows = [compared & (observations.arm == arm) for arm in arms]
    safe = [row.sum() >= MIN_UNITS and np.quantile(regret[row], 0.95) < SAFE_REGRET for row in rows]
    return arms[np.array(safe, dtype=np.bool_)]


def ladder(ranking: Ranking, rungs: int = 3) -> tuple[str, ...]:
    """Arms in order of trial: the leader, then the best that can fail in another way, a CPU arm last where there is one.

    Another way is another delegate or accelerator, else another file format, else the next in rank.
    """
    arms = [ranked.arm for ranked in ranking.arms]
    if not arms:
        return ()
    columns = {"chipset": [""] * len(arms), "model": [""] * len(arms), "arm": arms}
    table = Table.of(columns)
    delegate = dict(zip(arms, arm_part(table, "delegate").tolist(), strict=True))
    path = dict(zip(arms, arm_path(table).tolist(), strict=True))
    last = next((arm for arm in arms[1:] if delegate[arm] == "cpu"), None)
    chosen = arms[:1]
    rest = [arm for arm in arms[1:] if arm != last]
    while rest and len(chosen) < rungs - (last is not None):
        tried = {path[arm].split(".", 1)[-1] for arm in chosen}
        formats = {path[arm] for arm in chosen}
        best = min(rest, key=lambda arm: (path[arm].split(".", 1)[-1] in tried, path[arm] in formats))
        chosen.append(best)
        rest.remove(best)
    return tuple(chosen if last is None else [*chosen, last])


def _posterior(observations: Table, candidates: Table, reports: Index, random_state: int) -> Posterior:
    """Posterior of every candidate. Populations that share neither device class nor model are fitted apart."""
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
        variances = adapted(measured, random_state)
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


def _reports_of(observations: Table, candidates: Table, reports: Index) -> Index:
    """Reports behind each candidate cell."""
    total: dict[tuple[str, str, str], int] = {}
    for key, count in zip(_keys(observations), reports.tolist(), strict=True):
        total[key] = total.get(key, 0) + count
    return np.array([total.get(key, 0) for key in _keys(candidates)], dtype=np.intp)


def _keys(table: Table) -> Iterator[tuple[str, str, str]]:
    return zip(table.chipset.tolist(), table.model.tolist(), table.arm.tolist(), strict=True)


def _target_probability(posterior: Posterior, target_ms: Numbers) -> Numbers:
    """Probability that the true latency meets the target; NaN without one."""
    return np.asarray(ndtr((np.log(target_ms) - posterior.mean) / posterior.sd))
