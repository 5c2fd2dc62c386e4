"""From observations to rankings: for every device class and model, which arm first, at what expected cost, how sure.

Pure: the same observations and candidates give the same rankings. Device classes stand in the `chipset` column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ml.failures import cost_of_failing, failure_probability
from ml.fleet_posterior import fleet_posterior
from ml.limits import CellFacts, Exclusion, Limits, exclusions
from ml.memory import Memory
from ml.posterior import Posterior
from ml.rankings import Rankings
from ml.table import Index, Numbers, Table

SAFE_REGRET: Final = 2.5
"""An arm whose 95th percentile of regret stays under this may lead for a model that nobody has measured."""

GUARD_LOG_COST: Final = 20.0
"""More than any two arms differ in log cost: puts an arm behind all that are not guarded."""

MIN_UNITS: Final = 10
"""Units with two measured arms before an arm's regret is believed."""


def recommend(
    observations: Table,
    candidates: Table,
    *,
    reports: Index,
    facts: CellFacts | None = None,
    limits: Limits | None = None,
    regret_cap: float = 2.0,
    random_state: int = 0,
    memory: Memory | None = None,
) -> Rankings:
    """Rank the arms of every (device class, model) among `candidates`.

    observations : measured cells, `latency_ms` the median (or geometric mean) of each; may be empty.
    candidates : the cells that exist, with `chip_*`, `family`, `task`, `params`, `coverage` where known.
    reports : (rows of observations,) independent reports behind each median.
    facts : constraints by candidate cell (`CellFacts`), same order as `candidates`.
    memory : variances of the run before; holds this run's afterwards.
    Raises ValueError where lengths differ or a latency is not positive.
    """
    if len(reports) != len(observations):
        raise ValueError("reports go with observations: lengths differ")
    posterior = fleet_posterior(observations, candidates, reports, random_state, memory or Memory())
    return ranked(posterior, candidates, observations, reports, facts, limits, regret_cap)


def ranked(
    posterior: Posterior,
    candidates: Table,
    observations: Table,
    reports: Index,
    facts: CellFacts | None = None,
    limits: Limits | None = None,
    regret_cap: float = 2.0,
) -> Rankings:
    """The rankings that follow from a posterior of the candidates; arguments as in `recommend`."""
    facts, limits, count = facts or CellFacts(), limits or Limits(), len(candidates)
    if any(len(column) != count for column in facts.columns.values()):
        raise ValueError("facts go with candidates: lengths differ")
    excluded = exclusions(facts, count, limits)
    allowed = excluded == Exclusion.NONE.value
    startup = np.nan_to_num(facts.column("startup_ms", count))
    failing = failure_probability(candidates, facts.column("runs", count), facts.column("errors", count))
    cost = (np.exp(posterior.mean) + startup) * cost_of_failing(failing)
    in_cost = Posterior(np.log(cost), posterior.sd, posterior.groups)
    measured = np.isin(candidates.model, observations.model)
    guarded = ~measured & ~np.isin(candidates.arm, safe_arms(observations))
    unit = candidates.units()
    return Rankings(
        candidates,
        posterior.mean,
        posterior.sd,
        cost,
        _reports_of(observations, candidates, reports),
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
