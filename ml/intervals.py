"""Intervals that hold what they say: split-conformal scaling of the posterior, by kind of precision.

Lei et al. (2018), with the score |y − mean| ÷ sd. Scores come from folds that the model was not fitted to; whole
groups (chipsets, model families, cells) are held out as they are in use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from ml.latency import LatencyModel
from ml.table import Index, Numbers, Table, Text, arm_part

MIN_SCORES = 30


@dataclass(frozen=True)
class Intervals:
    """Sorted scores by kind of precision; "" holds all of them."""

    scores: Mapping[str, Numbers]
    noise_sd: float

    def half_width(self, X: Table, sd: Numbers, level: float) -> Numbers:
        """Half width (log) of the interval around the mean that holds a reading with probability `level`."""
        kind = precision_kind(X)
        factor = {name: _quantile(scores, level) for name, scores in self.scores.items()}
        factors = np.array([factor.get(name, factor[""]) for name in kind.tolist()])
        return factors * np.hypot(sd, self.noise_sd)


def calibrate(model: LatencyModel, X: Table, groups: Index, folds: int = 5, seed: int = 0) -> Intervals:
    """Scores of rows X by refitting `model` without each fold of whole `groups` (one number a row)."""
    names, group = np.unique(groups, return_inverse=True)
    fold = (np.random.default_rng(seed).permutation(len(names)) % folds)[group]
    score = np.zeros(len(X))
    for held in range(min(folds, len(names))):
        out = fold == held
        kept = X.take(~out)
        mean, sd = clone(model).fit(kept, universe=X.take(out)).predict(X.take(out), return_std=True)
        score[out] = np.abs(X.log_ms[out] - mean) / np.hypot(sd, model.noise_sd)
    return intervals_of(X, score, model.noise_sd)


def intervals_of(X: Table, score: Numbers, noise_sd: float) -> Intervals:
    """Intervals from the scores of rows; kinds of precision with few of them take those of all."""
    kind = precision_kind(X)
    by_kind = {str(name): np.sort(score[kind == name]) for name in np.unique(kind)}
    enough = {name: scores for name, scores in by_kind.items() if len(scores) >= MIN_SCORES}
    return Intervals({**enough, "": np.sort(score)}, noise_sd)


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
