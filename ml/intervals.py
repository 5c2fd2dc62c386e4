"""Intervals that hold what they say: split-conformal scaling of the posterior, by kind of precision.

Lei et al. (2018), with the score |y − mean| ÷ sd. Scores come from folds that the model was not fitted to; whole
groups (chipsets, model families, cells) are held out as they are in use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t
from sklearn.base import clone

from ml.latency import LatencyModel
from ml.table import Index, Numbers, Table, Text, arm_part

MIN_SCORES = 30
FEW_GROUPS = 20
"""Up to so many groups each is held out by itself, as in use: without several chipsets at once the model doubts more than
it will, and its scores come out too small."""


@dataclass(frozen=True)
class Intervals:
    """Sorted scores by kind of precision; "" holds all of them. `groups` were held out to get them."""

    scores: Mapping[str, Numbers]
    noise_sd: float
    groups: int

    def half_width(self, X: Table, sd: Numbers, level: float) -> Numbers:
        """Half width (log) of the interval around the mean that holds a reading with probability `level`."""
        kind = precision_kind(X)
        factor = {name: _quantile(scores, level) for name, scores in self.scores.items()}
        factors = np.array([factor.get(name, factor[""]) for name in kind.tolist()])
        return few_groups(level, self.groups) * factors * np.hypot(sd, self.noise_sd)


def few_groups(level: float, groups: int) -> float:
    """By how much wider an interval has to be that rests on few groups: rows of one chipset err together.

    Student's quantile of a new group against the normal one, 1.12 for a 95 % interval from sixteen chipsets.
    """
    dof = max(groups - 1, 1)
    return float(t.ppf(0.5 + level / 2, dof) * (1 + 1 / max(groups, 1)) ** 0.5 / norm.ppf(0.5 + level / 2))


def calibrate(
    model: LatencyModel,
    X: Table,
    groups: Index,
    given: Sequence[NDArray[np.bool_]] = (),
    folds: int = 4,
    seed: int = 0,
) -> list[Intervals]:
    """Intervals from rows X, by refitting `model` without each fold of whole `groups` (one number a row); a fold is one
    group where there are few.

    `given` rehearses how the intervals will be used: each mask names rows that are measured even though their group
    is held out, and gets its own intervals, scored on the other rows. No mask: one, with nothing given.
    """
    given = given or (np.zeros(len(X), dtype=np.bool_),)
    names, group = np.unique(groups, return_inverse=True)
    folds = len(names) if len(names) <= FEW_GROUPS else folds
    fold = (np.random.default_rng(seed).permutation(len(names)) % folds)[group]
    scores = np.full((len(given), len(X)), np.nan)
    for held in range(folds):
        out = fold == held
        if out.any() and not out.all():
            fitted = clone(model).fit(X.take(~out), universe=_without_latency(X.take(out)))
            for score, mask in zip(scores, given, strict=True):
                _score_fold(fitted, X, out & mask, out & ~mask, score)
    known = [np.isfinite(score) for score in scores]
    return [
        intervals_of(X.take(rows), score[rows], model.noise_sd, len(names))
        for rows, score in zip(known, scores, strict=True)
    ]


def _score_fold(
    fitted: LatencyModel, X: Table, known: NDArray[np.bool_], asked: NDArray[np.bool_], score: Numbers
) -> None:
    if asked.any():
        model = fitted.add(X.take(known)) if known.any() else fitted
        mean, sd = model.predict(X.take(asked), return_std=True)
        score[asked] = np.abs(X.log_ms[asked] - mean) / np.hypot(sd, model.noise_sd)


def _without_latency(X: Table) -> Table:
    return replace(X, latency_ms=np.full(len(X), np.nan))


def intervals_of(X: Table, score: Numbers, noise_sd: float, groups: int) -> Intervals:
    """Intervals from the scores of rows; kinds of precision with few of them take those of all."""
    kind = precision_kind(X)
    by_kind = {str(name): np.sort(score[kind == name]) for name in np.unique(kind)}
    enough = {name: scores for name, scores in by_kind.items() if len(scores) >= MIN_SCORES}
    return Intervals({**enough, "": np.sort(score)}, noise_sd, groups)


def precision_kind(X: Table) -> Text:
    """float, int8, int16 or mixed: kinds whose predictions err alike."""
    return np.array([_kind(precision) for precision in arm_part(X, "precision").tolist()], dtype=np.str_)


def _kind(precision: str) -> str:
    if "mixed" in precision:
        return "mixed"
    if precision.startswith("fp"):
        return "float"
    return "int16" if precision.startswith("int16") else "int8"


def _quantile(scores: Numbers, level: float) -> float:
    """The conformal quantile: rank ⌈level · (n + 1)⌉, the largest score where there are too few."""
    if not len(scores):
        return float("inf")
    return float(scores[min(len(scores), int(np.ceil(level * (len(scores) + 1)))) - 1])
