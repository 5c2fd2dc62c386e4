"""What an evaluation asks: tables split so that answers are apart from questions.

A `Question` is all that a method may see; its cells carry no latency. The `Answer` goes to the metrics only. Splits
are by whole chipset and whole model family, so that no sibling of a held-out chipset or model is among the training
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ml.table import Index, Numbers, Table

PROBES: Final = (0, 1, 3, 5)
CANARIES: Final = (0, 1, 2, 3)
OBSERVED_PERCENT: Final = (5, 10, 20)
FAMILY_FOLDS: Final = 10


@dataclass(frozen=True)
class Question:
    """What a method sees: `base` and `extra` measurements, and `cells` to score (latencies hidden).

    base_key : names the base; questions with equal keys and seeds have the same base.
    observed : marks cells that are also measured.
    groups : numbers the rows of the base by what this protocol holds out as a whole.
    rehearsals : for each setting of the protocol a mask over the base: rows that would be measured although their
        group is held out. `stage` is this setting's place among them.
    """

    base: Table
    base_key: str
    extra: Table
    cells: Table
    observed: NDArray[np.bool_]
    groups: Index
    rehearsals: tuple[NDArray[np.bool_], ...]
    stage: int
    seed: int


class Answer(NamedTuple):
    """Log latencies (log ms) of the cells, and the rows that are judged."""

    log_ms: Numbers
    judged: NDArray[np.bool_]


class Trial(NamedTuple):
    """One question with its answer under a setting of a protocol."""

    setting: str
    question: Question
    answer: Answer


Protocol = Callable[[Table, int], Iterator[Trial]]


def hidden(table: Table) -> Table:
    """The cells of a table without what their measurement told, save for the layers and coverage a compile report gives."""
    number = {name: column for name, column in table.number.items() if name != "accuracy_drop"}
    return replace(table, latency_ms=np.full(len(table), np.nan), number=number)


def unseen_chipset(table: Table, seed: int) -> Iterator[Trial]:
    """Each chipset held out in turn, with 0, 1, 3, 5 random cells of it measured. Probed units are not judged."""
    rng = np.random.default_rng(seed)
    for chipset in np.unique(table.chipset).tolist():
        held = table.chipset == chipset
        base, test = table.take(~held), table.take(held)
        groups, unit, order = _numbers(base.chipset), test.units(), rng.permutation(len(test))
        rehearsals = tuple(_some_of_each(groups, probes) for probes in PROBES)
        for stage, probes in enumerate(PROBES):
            probed = np.isin(np.arange(len(test)), order[:probes])
            judged = ~np.isin(unit, unit[probed])
            if judged.any():
                question = Question(
                    base, chipset, test.take(probed), hidden(test), probed, groups, rehearsals, stage, seed
                )
                yield Trial(f"{probes} probes", question, Answer(test.log_ms, judged))


def unseen_model(table: Table, seed: int) -> Iterator[Trial]:
    """Ten folds of model families held out; every arm of a held-out model measured on 0…3 fixed lab phones.

    The lab phones are the chipsets that measured most models, each of another NPU generation where that is known.
    What was measured on a lab phone is not judged.
    """
    family = table.text.get("family", table.model)
    names = np.unique(family)
    fold = (np.random.default_rng(seed).permutation(len(names)) % FAMILY_FOLDS)[np.searchsorted(names, family)]
    phones = lab_phones(table, max(CANARIES))
    for number in np.unique(fold).tolist():
        base, test = table.take(fold != number), table.take(fold == number)
        groups = _numbers(base.text.get("family", base.model))
        rehearsals = tuple(np.isin(base.chipset, phones[:canaries]) for canaries in CANARIES)
        for stage, canaries in enumerate(CANARIES):
            measured = np.isin(test.chipset, phones[:canaries])
            if not measured.all():
                question = Question(
                    base, f"{number}", test.take(measured), hidden(test), measured, groups, rehearsals, stage, seed
                )
                yield Trial(f"{canaries} lab phones", question, Answer(test.log_ms, ~measured))


def sparse(table: Table, seed: int) -> Iterator[Trial]:
    """5, 10, 20 % of all cells measured, at random; every unit is judged, measured arms with their measured value."""
    rng = np.random.default_rng(seed)
    draw = rng.random(len(table))
    for percent in OBSERVED_PERCENT:
        observed = draw < percent / 100
        base, nothing = table.take(observed), table.take(np.zeros(0, np.intp))
        groups, rehearsal = np.arange(len(base)), np.zeros(len(base), np.bool_)
        question = Question(base, f"{percent}", nothing, hidden(table), observed, groups, (rehearsal,), 0, seed)
        yield Trial(f"{percent} %", question, Answer(table.log_ms, np.ones(len(table), np.bool_)))


def lab_phones(table: Table, count: int) -> list[str]:
    """Chipsets to measure a new model on: those with most units, one NPU generation each before any comes twice."""
    names, first, unit = np.unique(table.chipset, return_index=True, return_inverse=True)
    models = [len(np.unique(table.model[unit == number])) for number in range(len(names))]
    generation = table.number.get("chip_npu", np.arange(len(table), dtype=np.float64))[first]
    order = sorted(range(len(names)), key=lambda number: (-models[number], names[number]))
    seen: dict[float, int] = {}
    ranked: list[tuple[int, int, str]] = []
    for number in order:
        turn = seen.get(float(generation[number]), 0)
        seen[float(generation[number])] = turn + 1
        ranked.append((turn, len(ranked), str(names[number])))
    return [name for _, _, name in sorted(ranked)[:count]]


def _some_of_each(groups: Index, count: int) -> NDArray[np.bool_]:
    """Marks `count` random rows of each group."""
    order = np.lexsort((np.random.default_rng(0).random(len(groups)), groups))
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups))[:-1]])
    marks = np.zeros(len(groups), dtype=np.bool_)
    marks[order] = np.arange(len(groups)) - starts[groups[order]] < count
    return marks


def _numbers(names: NDArray[np.str_]) -> Index:
    return np.unique(names, return_inverse=True)[1].astype(np.intp)


SPLITS: Final[Mapping[str, Protocol]] = MappingProxyType(
    {"unseen-chipset": unseen_chipset, "unseen-model": unseen_model, "sparse": sparse}
)
