"""The narrowest cohort that explains failures: a penalised scan over combinations of up to three attributes.

Every value combination of every set of attributes is a cohort; f of its trials failed where e were expected. The score
is the Poisson log likelihood ratio (Kulldorff 1997) less what looking everywhere costs:

    S = f ln(f / e) − (f − e) − Σ ln(values of each attribute) − ln C(attributes, depth)

A cohort is reported when S > ln(depths ÷ α); its trials are then set aside and the scan begins anew, so that a second
fault is not hidden by the first. Two faults that share a condition make what they share look worst of all: where narrower
cohorts inside score more together than the cohort does, they are reported in its place. Whether there is anything to
report hangs on the widest one alone. e is guarded, for it is itself known from few failures:

    e* = max(e, e (b + 5) / (e + 5)) + ½ √(max(…) + 1), b the cohort's failures in the time before

A trial is what can fail once: a device where devices can be told apart, else a cell of device class, model and arm.
Never an event: a phone that crashes all day is one phone, and counting its crashes raises an alarm about every second
time.

A scan holds a cohort against what is expected of it. What is done without a person also needs `Control`: a second
sample, of the same phones without the suspect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import combinations
from math import comb, log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from ml.table import Index, Numbers, Text

MAX_DEPTH: Final = 3
ALPHA: Final = 0.05
PRIOR_FAILURES: Final = 5.0
MIN_FAILURES: Final = 3
CONTROL_ALPHA: Final = 0.01
MIN_CLASSES: Final = 2

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Cohort:
    """`conditions`: attribute → value, all of which hold. `expected` failures are guarded; `score` is S."""

    conditions: Mapping[str, str]
    trials: int
    failed: int
    expected: float
    score: float


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


def scan(trials: Trials, alpha: float = ALPHA, most: int = 5) -> list[Cohort]:
    """Cohorts with more failures than chance and looking everywhere explain, the clearest first, at most `most`."""
    found = _found(_Coded.of(trials), frozenset(), log(MAX_DEPTH / alpha), most)
    return sorted(found, key=lambda cohort: -cohort.score)[:most]


def _found(left: _Coded, wider: Set[str], least: float, most: int) -> list[Cohort]:
    """Cohorts with scores over `least` that name the attributes `wider`, of which all trials have one value, and more."""
    found: list[Cohort] = []
    while len(found) < most and len(left.failed):
        best = max(_cohorts(left, wider), key=lambda cohort: cohort.score, default=None)
        if best is None or best.score <= least:
            break
        parts = _found(left.only(best.conditions), best.conditions.keys(), least, most)
        for cohort in parts if sum(part.score for part in parts) > best.score else [best]:
            found.append(cohort)
            left = left.without(cohort.conditions)
    return found


@dataclass(frozen=True)
class Control:
    """The same phones and models at the same time without the suspect: what a scan of one side cannot rule out.

    `failed` of `trials` of the cohort, `control_failed` of `control_trials` beside it. `classes`: device classes that
    failures came from. One class may be one phone, or somebody who sends its report.
    """

    trials: int
    failed: int
    control_trials: int
    control_failed: int
    classes: int = MIN_CLASSES

    @property
    def p_value(self) -> float:
        """Null: the cohort fails no more often than its control. Fisher's exact test, one-sided."""
        everything = self.trials + self.control_trials
        failed = self.failed + self.control_failed
        return float(hypergeom.sf(self.failed - 1, everything, failed, self.trials))

    @property
    def holds(self) -> bool:
        """Whether the suspect is worse than its control, in more than one class: what a quarantine without a person needs
        besides the scan.
        """
        return self.classes >= MIN_CLASSES and self.p_value <= CONTROL_ALPHA

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "cells": self.trials, "failed": self.failed, "control_cells": self.control_trials,
            "control_failed": self.control_failed, "classes": self.classes, "p_value": self.p_value,
            "holds": self.holds,
        }  # fmt: skip


def guarded(expected: Numbers, failed_before: Numbers) -> Numbers:
    """Expected failures, no smaller than what the time before suggests, and half a standard deviation more."""
    least = np.maximum(expected, expected * (failed_before + PRIOR_FAILURES) / (expected + PRIOR_FAILURES))
    return np.asarray(least + 0.5 * np.sqrt(least + 1))


@dataclass(frozen=True)
class _Coded:
    """Trials with their attributes as numbers of `values`: the scan looks at each of them in many combinations."""

    values: Mapping[str, Text]
    codes: Mapping[str, Index]
    failed: Marks
    expected: Numbers
    failed_before: Marks

    @classmethod
    def of(cls, trials: Trials) -> _Coded:
        coded = {name: np.unique(column, return_inverse=True) for name, column in trials.attributes.items()}
        values = {name: found for name, (found, _) in coded.items()}
        codes = {name: code.astype(np.intp) for name, (_, code) in coded.items()}
        return cls(values, codes, trials.failed, trials.expected, trials.failed_before)

    def only(self, conditions: Mapping[str, str]) -> _Coded:
        """The trials of a cohort."""
        return self._where(self._inside(conditions))

    def without(self, conditions: Mapping[str, str]) -> _Coded:
        """What is left once a cohort is set aside."""
        return self._where(~self._inside(conditions))

    def _inside(self, conditions: Mapping[str, str]) -> Marks:
        columns = [self.values[name][self.codes[name]] == value for name, value in conditions.items()]
        return np.asarray(np.logical_and.reduce(columns))

    def _where(self, kept: Marks) -> _Coded:
        codes = {name: code[kept] for name, code in self.codes.items()}
        return _Coded(self.values, codes, self.failed[kept], self.expected[kept], self.failed_before[kept])


def _cohorts(trials: _Coded, wider: Set[str]) -> Iterator[Cohort]:
    """The best cohort of every set of attributes that has those of `wider` and more."""
    for depth in range(len(wider) + 1, min(MAX_DEPTH, len(trials.codes)) + 1):
        for names in combinations(trials.codes, depth):
            if wider <= set(names):
                best = _best_of(trials, names, log(comb(len(trials.codes), depth)))
                if best is not None:
                    yield best


def _best_of(trials: _Coded, names: tuple[str, ...], penalty: float) -> Cohort | None:
    sizes = [len(trials.values[name]) for name in names]
    code = np.ravel_multi_index([trials.codes[name] for name in names], sizes)
    count = int(np.prod(sizes))
    failed, before, expected = (
        np.bincount(code, column, count).astype(np.float64)
        for column in (trials.failed, trials.failed_before, trials.expected)
    )
    expected = guarded(expected, before)
    excess = np.where((failed > expected) & (failed >= MIN_FAILURES), failed, expected)
    score = excess * np.log(excess / expected) - (excess - expected)
    best = int(score.argmax())
    if score[best] <= 0:
        return None
    found = np.unravel_index(best, sizes)
    conditions = {name: str(trials.values[name][value]) for name, value in zip(names, found, strict=True)}
    members = int((code == best).sum())
    net = float(score[best]) - sum(map(log, sizes)) - penalty
    return Cohort(conditions, members, int(failed[best]), float(expected[best]), net)
