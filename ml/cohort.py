"""The narrowest cohort that explains failures: a penalised scan over combinations of up to three attributes.

Every value combination of every set of attributes is a cohort; f of its trials failed where e were expected. The score
is the Poisson log likelihood ratio (Kulldorff 1997) less what looking everywhere costs:

    S = f ln(f / e) − (f − e) − Σ ln(values of each attribute) − ln C(attributes, depth)

A cohort is reported when S > ln(depths ÷ α); its trials are then set aside and the scan begins anew, so that a second
fault is not hidden by the first. e is guarded, for it is itself known from few failures:

    e* = max(e, e (b + 5) / (e + 5)) + ½ √(max(…) + 1), b the cohort's failures in the time before

A trial is what can fail once: a device where devices can be told apart, else a cell of device class, model and arm.
Never an event: a phone that crashes all day is one phone, and counting its crashes raises an alarm about every second
time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb, log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ml.table import Index, Numbers, Text

MAX_DEPTH: Final = 3
ALPHA: Final = 0.05
PRIOR_FAILURES: Final = 5.0
MIN_FAILURES: Final = 3

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Cohort:
    """`conditions`: attribute → value, all of which hold. `expected` failures are guarded; `score` is S."""

    conditions: Mapping[str, str]
    trials: int
    failed: int
    expected: float
    score: float

    @property
    def risk_ratio(self) -> float:
        """Failures over expected failures."""
        return self.failed / self.expected


@dataclass(frozen=True)
class Trials:
    """n trials: `attributes` by name, `failed`, `expected` probability of failing, `failed_before` in a time before.

    `failed_before` may be zeros where nothing is known; it stands for the same trials under what was served before.
    """

    attributes: Mapping[str, Text]
    failed: Marks
    expected: Numbers
    failed_before: Marks

    @classmethod
    def of(cls, attributes: Mapping[str, Text], failed: Marks, share: float | None = None) -> Trials:
        """Trials that all fail with one normal share (None: the share of those that failed)."""
        normal = float(failed.mean()) if share is None else share
        return cls(attributes, failed, np.full(len(failed), normal), np.zeros(len(failed), np.bool_))

    def take(self, rows: Marks) -> Trials:
        """The trials at a mask."""
        attributes = {name: column[rows] for name, column in self.attributes.items()}
        return Trials(attributes, self.failed[rows], self.expected[rows], self.failed_before[rows])


def scan(trials: Trials, alpha: float = ALPHA, most: int = 5) -> list[Cohort]:
    """Cohorts with more failures than chance and looking everywhere explain, the clearest first, at most `most`."""
    found: list[Cohort] = []
    while len(found) < most and len(trials.failed):
        best = max(_cohorts(trials), key=lambda cohort: cohort.score, default=None)
        if best is None or best.score <= log(MAX_DEPTH / alpha):
            break
        found.append(best)
        trials = trials.take(~_members(trials, best.conditions))
    return found


def guarded(expected: Numbers, failed_before: Numbers) -> Numbers:
    """Expected failures, no smaller than what the time before suggests, and half a standard deviation more."""
    least = np.maximum(expected, expected * (failed_before + PRIOR_FAILURES) / (expected + PRIOR_FAILURES))
    return np.asarray(least + 0.5 * np.sqrt(least + 1))


def _cohorts(trials: Trials) -> Iterator[Cohort]:
    """The best cohort of every set of attributes."""
    coded = {name: np.unique(column, return_inverse=True) for name, column in trials.attributes.items()}
    for depth in range(1, min(MAX_DEPTH, len(coded)) + 1):
        for names in combinations(coded, depth):
            best = _best_of(trials, names, coded, log(comb(len(coded), depth)))
            if best is not None:
                yield best


def _best_of(
    trials: Trials, names: tuple[str, ...], coded: Mapping[str, tuple[Text, Index]], penalty: float
) -> Cohort | None:
    sizes = [len(coded[name][0]) for name in names]
    code = np.ravel_multi_index([coded[name][1] for name in names], sizes)
    count = int(np.prod(sizes))
    failed, expected, before = (
        np.bincount(code, column, count).astype(np.float64)
        for column in (trials.failed, trials.expected, trials.failed_before)
    )
    expected = guarded(expected, before)
    excess = np.where((failed > expected) & (failed >= MIN_FAILURES), failed, expected)
    score = excess * np.log(excess / expected) - (excess - expected)
    best = int(score.argmax())
    if score[best] <= 0:
        return None
    values = np.unravel_index(best, sizes)
    conditions = {name: str(coded[name][0][value]) for name, value in zip(names, values, strict=True)}
    members = int((code == best).sum())
    net = float(score[best]) - sum(map(log, sizes)) - penalty
    return Cohort(conditions, members, int(failed[best]), float(expected[best]), net)


def _members(trials: Trials, conditions: Mapping[str, str]) -> Marks:
    mark = np.ones(len(trials.failed), dtype=np.bool_)
    for name, value in conditions.items():
        mark &= trials.attributes[name] == value
    return mark
