"""From observations to rankings: for every device class and model, which arm first, at what expected cost, how sure.

Pure: the same observations and candidates give the same rankings. Device classes stand in the `chipset` column.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr

from ml.caution import caution
from ml.failures import cost_of_failing, failure_probability
from ml.fleet_posterior import fleet_posterior
from ml.limits import CellFacts, Exclusion, Limits, exclusions
from ml.memory import Memory
from ml.pieces import in_pieces
from ml.posterior import Posterior
from ml.rankings import Rankings
from ml.table import Index, Numbers, Table


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
    """The rankings that follow from a posterior of the candidates; arguments as in `recommend`.

    Arms are ordered by expected log cost and `caution`, and for graphs `in_pieces`: doubt about a latency costs a little,
    a risky arm of a new model more. Doubt whether an arm runs at all counts through the cost of failing.
    """
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
    behind = _reports_of(observations, candidates, reports)
    careful = caution(observations, candidates, posterior.sd) + in_pieces(facts, behind)
    unit = candidates.units()
    return Rankings(
        candidates,
        posterior.mean,
        posterior.sd,
        cost,
        behind,
        in_cost.best_probability(allowed=allowed),
        in_cost.expected_excess(regret_cap, allowed=allowed),
        _target_probability(posterior, facts.column("target_ms", count)),
        excluded,
        careful,
        measured,
        unit,
        np.lexsort((candidates.arm, np.log(cost) + careful, ~allowed, unit)),
        posterior.joints,
    )


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
