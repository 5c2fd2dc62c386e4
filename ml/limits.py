"""Which arms may be served at all: accuracy budget, golden check, error rate, memory. Decided before speed is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ml.table import Numbers

WILSON_Z: Final = 1.2816
"""One-sided 90 % bound: an arm is put out on evidence, not on one stray failure."""


class Exclusion(StrEnum):
    """Why an arm is kept out of a ranking."""

    NONE = ""
    ACCURACY = "accuracy_over_budget"
    GOLDEN = "golden_check_fails"
    ERRORS = "error_rate_over_limit"
    MEMORY = "memory_over_limit"
    NON_FINITE = "output_not_finite"
    UNCHECKED = "too_fast_and_unchecked"


@dataclass(frozen=True)
class Limits:
    """Shares above which an arm is put out, and the failures needed before a share is believed.

    An output that is no number is believed at once: nothing wears off there, and nothing averages it away.
    """

    golden_failure_share: float = 0.02
    min_golden_failures: int = 2
    error_share: float = 0.02
    min_errors: int = 3
    min_unbelieved: int = 3


@dataclass(frozen=True)
class CellFacts:
    """What is known of n candidate cells apart from latency. NaN means unknown, an empty mapping nothing known.

    Columns, all of length n: `accuracy_drop` and `max_accuracy_drop` (shares), `golden_checks`, `golden_failures`,
    `runs`, `errors` (counts; a suspected crash is an error), `startup_ms` (init and compile a run has to bear),
    `non_finite` of `checked` windows of the cell itself, `unbelieved` windows of an arm that no believed one measured,
    `delegated_share` of nodes and `cuts`, as expected before anything ran, `target_ms` (latency target), `memory_mb` (peak of a usual window) and `max_memory_mb` (what the app can spare).
    """

    columns: Mapping[str, Numbers] = field(default_factory=dict)

    def column(self, name: str, count: int) -> Numbers:
        """A column, NaN where it is not known."""
        return self.columns.get(name, np.full(count, np.nan))


def exclusions(facts: CellFacts, count: int, limits: Limits) -> NDArray[np.str_]:
    """The `Exclusion` of each of `count` cells, "" for those that may be served. Accuracy is named first."""
    golden = _over(
        facts.column("golden_failures", count),
        facts.column("golden_checks", count),
        limits.golden_failure_share,
        limits.min_golden_failures,
    )
    errors = _over(facts.column("errors", count), facts.column("runs", count), limits.error_share, limits.min_errors)
    accuracy = facts.column("accuracy_drop", count) > facts.column("max_accuracy_drop", count)
    memory = facts.column("memory_mb", count) > facts.column("max_memory_mb", count)
    non_finite, checked = facts.column("non_finite", count), facts.column("checked", count)
    put_out = {
        Exclusion.ACCURACY: accuracy,
        Exclusion.NON_FINITE: (non_finite > 0) & (non_finite > limits.golden_failure_share * checked),
        Exclusion.GOLDEN: golden,
        Exclusion.UNCHECKED: facts.column("unbelieved", count) >= limits.min_unbelieved,
        Exclusion.ERRORS: errors,
        Exclusion.MEMORY: memory,
    }
    return np.select(list(put_out.values()), [reason.value for reason in put_out], Exclusion.NONE.value)


def wilson_lower(failures: Numbers, trials: Numbers, z: float = WILSON_Z) -> Numbers:
    """Lower bound of a share (Wilson 1927); 0 without trials."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = failures / trials
        centre = share + z**2 / (2 * trials)
        spread = z * np.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
        return np.nan_to_num((centre - spread) / (1 + z**2 / trials))


def _over(failures: Numbers, trials: Numbers, share: float, least: int) -> NDArray[np.bool_]:
    return (failures >= least) & (wilson_lower(failures, np.maximum(trials, failures)) > share)
