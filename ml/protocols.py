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

    `base_key` names the base: questions with equal keys have the same base. `groups` numbers the rows of the base by
    what is held out as a whole in this protocol, for calibration. `observed` marks cells that are also measured.
    """

    base: Table
    base_key: str
    groups: Index
    extra: Table
    cells: Table
    observed: NDArray[np.bool_]
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
    """The cells of a table without what their measurement told, save for the coverage a compile report gives."""
    number = {name: column for name, column in table.number.items() if name != "accuracy_drop"}
    return replace(table, latency_ms=np.full(len(table), np.nan), number=number)


def unseen_chipset(table: Table, seed: int) -> Iterator[Trial]:
    """Each chipset held out in turn, with 0, 1, 3, 5 random cells of it measured. Probed units are not judged."""
    rng = np.random.default_rng(seed)
    for chipset in np.unique(table.chipset).tolist():
        held = table.chipset == chipset
        base, test = table.take(~held), table.take(held)
        groups = _numbers(base.chipset)
        unit = test.units()
        order = rng.permutation(len(test))
        for probes in PROBES:
            probed = np.isin(np.arange(len(test)), order[:probes])
            judged = ~np.isin(unit, unit[probed])
            if judged.any():
                question = Question(base, f"{chipset}", groups, test.take(probed), hidden(test), probed, seed)
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
        for canaries in CANARIES:
            measured = np.isin(test.chipset, phones[:canaries])
            if not measured.all():
                key = f"{seed}/{number}"
                question = Question(base, key, groups, test.take(measured), hidden(test), measured, seed)
                yield Trial(f"{canaries} lab phones", question, Answer(test.log_ms, ~measured))


def sparse(table: Table, seed: int) -> Iterator[Trial]:
    """5, 10, 20 % of all cells measured, at random; every unit is judged, measured arms with their measured value."""
    rng = np.random.default_rng(seed)
    draw = rng.random(len(table))
    for percent in OBSERVED_PERCENT:
        observed = draw < percent / 100
        base = table.take(observed)
        groups = np.arange(len(base))
        question = Question(
            base, f"{seed}/{percent}", groups, table.take(np.zeros(0, np.intp)), hidden(table), observed, seed
        )
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


def _numbers(names: NDArray[np.str_]) -> Index:
    return np.unique(names, return_inverse=True)[1].astype(np.intp)


SPLITS: Final[Mapping[str, Protocol]] = MappingProxyType(
    {"unseen-chipset": unseen_chipset, "unseen-model": unseen_model, "sparse": sparse}
)
