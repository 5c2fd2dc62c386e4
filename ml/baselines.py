"""Simple rules to beat. Each scores the cells of a question, lowest first, from the same training rows as ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from ml.features import Encoder
from ml.protocols import Question
from ml.table import Index, Numbers, Table, Text, arm_part, concatenate

UNKNOWN_REGRET: Final = 3.0
LAST: Final = 100.0
FULL_COVERAGE: Final = 0.95


def random(question: Question) -> Numbers:
    """Any arm."""
    return np.random.default_rng(question.seed).random(len(question.cells))


def best_on_average(question: Question) -> Numbers:
    """The arm with the lowest mean log regret in training."""
    known = _known(question)
    return _look_up(known.arm, _log_regret(known), question.cells.arm, UNKNOWN_REGRET)


def always_float(question: Question) -> Numbers:
    """A float arm, the best on average of several."""
    other = ~np.isin(arm_part(question.cells, "precision"), ["fp32", "fp16"])
    return np.asarray(best_on_average(question) + LAST * other)


def always_int8(question: Question) -> Numbers:
    """An INT8 arm, the best on average of several."""
    return np.asarray(best_on_average(question) + LAST * (arm_part(question.cells, "precision") != "int8"))


def full_coverage(question: Question) -> Numbers:
    """An arm with at least 95 % of its layers on the NPU, the best on average of several.

    It reads the coverage in the test cell's own profile, as the estimator does and no other baseline.
    """
    coverage = question.cells.number.get("coverage", np.ones(len(question.cells)))
    return best_on_average(question) + LAST * ~(coverage >= FULL_COVERAGE)


def nearest_chipset(question: Question) -> Numbers:
    """The model's latencies on the chipset with the most similar features that measured the arm."""
    known = _known(question)
    distance = _chip_distances(known, question.cells)
    by_cell = _rows_by_model_and_arm(known)
    fallback = LAST + best_on_average(question)
    score = fallback.copy()
    for row, key in enumerate(zip(question.cells.model.tolist(), question.cells.arm.tolist(), strict=True)):
        if (rows := by_cell.get(key)) is not None:
            score[row] = known.log_ms[rows[np.argmin(distance[row][rows])]]
    return score


def average_of_chipsets(question: Question) -> Numbers:
    """The arm with the lowest mean log regret for this very model over the chipsets that measured it."""
    known = _known(question)
    joined = np.char.add(np.char.add(known.model, "\n"), known.arm)
    asked = np.char.add(np.char.add(question.cells.model, "\n"), question.cells.arm)
    score = _look_up(joined, _log_regret(known), asked, np.nan)
    return np.where(np.isnan(score), LAST + best_on_average(question), score)


BASELINES: Final[Mapping[str, Callable[[Question], Numbers]]] = MappingProxyType(
    {
        "random": random,
        "always float": always_float,
        "always int8": always_int8,
        "coverage ≥ 95 % (sees the cell's own profile)": full_coverage,
        "best arm on average": best_on_average,
        "nearest chipset": nearest_chipset,
        "average of chipsets": average_of_chipsets,
    }
)
PREDICTS_LATENCY: Final = frozenset({"nearest chipset"})
"""Baselines whose score is a log latency, so that a measured value can stand in for it."""


def _known(question: Question) -> Table:
    return concatenate(question.base, question.extra) if len(question.extra) else question.base


def _log_regret(table: Table) -> Numbers:
    unit = table.units()
    best = np.full(int(unit.max(initial=-1)) + 1, np.inf)
    np.minimum.at(best, unit, table.log_ms)
    return np.asarray(table.log_ms - best[unit])


def _look_up(keys: Text, values: Numbers, asked: Text, missing: float) -> Numbers:
    """Mean value by key, of each key asked for."""
    names, number = np.unique(keys, return_inverse=True)
    mean = np.bincount(number, values) / np.bincount(number)
    place = np.minimum(np.searchsorted(names, asked), len(names) - 1)
    return np.where(names[place] == asked, mean[place], missing)


def _chip_distances(known: Table, cells: Table) -> Numbers:
    """Squared distance in features from each cell's chipset to each known row's chipset."""
    encoder = Encoder.of(concatenate(known, cells))
    _, to_row = np.unique(known.chipset, return_inverse=True)
    _, at_row = np.unique(cells.chipset, return_inverse=True)
    there, here = encoder.chip_coordinates(known), encoder.chip_coordinates(cells)
    distance = ((here[:, None, :] - there[None, :, :]) ** 2).sum(axis=2)
    return np.asarray(distance[at_row][:, to_row])


def _rows_by_model_and_arm(table: Table) -> dict[tuple[str, str], Index]:
    found: dict[tuple[str, str], list[int]] = {}
    for row, key in enumerate(zip(table.model.tolist(), table.arm.tolist(), strict=True)):
        found.setdefault(key, []).append(row)
    return {key: np.array(rows, dtype=np.intp) for key, rows in found.items()}
