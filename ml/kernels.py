"""What resembles what: covariance of log latencies over (chipset, model, arm), as sums of product kernels.

A term is one kernel on the chipset times one on the model times one on the arm, with a variance; "" stands for the
kernel that is 1 everywhere. `Space` holds the kernels as small tables over the names it knows, so that a covariance
between two sets of cells is a few table look-ups, whatever the number of terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ml.features import Encoder, Matrix, text_by_name, text_column
from ml.table import Index, Numbers, Table, Text, arm_part, arm_path


class Term(NamedTuple):
    """Kernels of one product.

    chipset in {"", same, near}, model in {"", same, family, task, size, alike}, arm in {"", same, precision, path}
    """

    chipset: str
    model: str
    arm: str

    @property
    def label(self) -> str:
        """`chipset·model·arm`, the key of the variance table."""
        return f"{self.chipset}·{self.model}·{self.arm}"


TERMS: Final = tuple(
    Term(*label.split("·"))
    for label in (
        *("same··", "near··", "·same·", "·family·", "·task·", "·size·", "··same", "··precision", "··path"),
        *("same··same", "same··precision", "near··same", "near··precision", "near··path"),
        *("·same·same", "·same·precision", "·same·path", "·family·same", "·family·precision", "·family·path"),
        *("·task·same", "·task·precision", "·size·precision", "·size·path"),
        *("·alike·", "·alike·same", "·alike·precision", "·alike·path"),
        *("same·same·", "near·same·", "near·family·", "near·size·"),
        *("near·same·same", "near·same·precision", "same·same·precision", "same·same·path"),
        *("near·family·precision", "near·task·precision", "near·size·precision", "same·same·same"),
    )
)


def _no_text() -> Text:
    return np.array([], dtype=np.str_)


@dataclass(frozen=True)
class Space:
    """Names with their features in the order of their codes. Names that come later are appended, never moved."""

    encoder: Encoder
    chipsets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    chip_coordinates: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    model_coordinates: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    families: Text = field(default_factory=_no_text)
    tasks: Text = field(default_factory=_no_text)
    precisions: Text = field(default_factory=_no_text)
    paths: Text = field(default_factory=_no_text)

    @classmethod
    def of(cls, table: Table) -> Space:
        """The names and features of a universe of cells."""
        return cls(Encoder.of(table)).extended(table)

    def extended(self, table: Table) -> Space:
        """This space and the names of the table that it lacks; itself where it knows them all."""
        space = self
        for grow, names, column in (
            (Space._with_chipsets, self.chipsets, table.chipset),
            (Space._with_models, self.models, table.model),
            (Space._with_arms, self.arms, table.arm),
        ):
            unknown = ~np.isin(column, np.asarray(names, dtype=np.str_))
            if unknown.any():
                space = grow(space, table.take(unknown))
        return space

    def codes(self, table: Table) -> Cells:
        """Codes of the table's rows; raises KeyError where a name is unknown."""
        return Cells(
            _codes(self.chipsets, table.chipset), _codes(self.models, table.model), _codes(self.arms, table.arm)
        )

    def chip_kernels(self) -> dict[str, Matrix]:
        """`same`: identity; `near`: squared exponential of the features."""
        kernels = _identity(len(self.chipsets)) | {"near": _squared_exponential(self.chip_coordinates)}
        return self._known(kernels)

    def model_kernels(self) -> dict[str, Matrix]:
        """`same`, equal `family`, equal `task`, `size`: squared exponential of the features, `alike`: task × size."""
        task, size = _equal(self.tasks), _squared_exponential(self.model_coordinates)
        features = {"family": _equal(self.families), "task": task, "size": size, "alike": task * size}
        return self._known(_identity(len(self.models)) | features)

    def arm_kernels(self) -> dict[str, Matrix]:
        """`same`, equal `precision`, equal `path` (format, delegate, accelerator)."""
        features = {"precision": _equal(self.precisions), "path": _equal(self.paths)}
        return self._known(_identity(len(self.arms)) | features)

    def _known(self, kernels: dict[str, Matrix]) -> dict[str, Matrix]:
        return {name: table for name, table in kernels.items() if name in self.encoder.kernels}

    def _with_chipsets(self, table: Table) -> Space:
        rows = self.encoder.chip_coordinates(table)
        grown = np.vstack([self.chip_coordinates, rows]) if self.chipsets else rows
        return replace(self, chipsets=(*self.chipsets, *_names(table.chipset)), chip_coordinates=grown)

    def _with_models(self, table: Table) -> Space:
        rows = self.encoder.model_coordinates(table)
        return replace(
            self,
            models=(*self.models, *_names(table.model)),
            model_coordinates=np.vstack([self.model_coordinates, rows]) if self.models else rows,
            families=np.append(self.families, text_by_name(table.model, text_column(table, "family"))),
            tasks=np.append(self.tasks, text_by_name(table.model, text_column(table, "task"))),
        )

    def _with_arms(self, table: Table) -> Space:
        return replace(
            self,
            arms=(*self.arms, *_names(table.arm)),
            precisions=np.append(self.precisions, text_by_name(table.arm, arm_part(table, "precision"))),
            paths=np.append(self.paths, text_by_name(table.arm, arm_path(table))),
        )


class Cells(NamedTuple):
    """Codes of rows on the three axes."""

    chipset: Index
    model: Index
    arm: Index

    def take(self, rows: NDArray[np.bool_] | Index) -> Cells:
        """The cells at an index or mask."""
        return Cells(self.chipset[rows], self.model[rows], self.arm[rows])


class Covariance:
    """Covariance of cells under a variance for each term: σ² = Σ_terms v · K_chipset · K_model · K_arm.

    Terms whose model kernel is `same` are *local* (they tie rows of one model); the others, with a constant of
    variance 1, are the *population* (they tie models to each other). Terms of unknown kernels are left out.
    """

    def __init__(self, space: Space, variances: Mapping[str, float]) -> None:
        self.chip = space.chip_kernels()
        self.model = space.model_kernels()
        arm = space.arm_kernels()
        self.mixed: dict[str, dict[str, Matrix]] = {"": {"": np.ones_like(arm["same"])}}
        for term in TERMS:
            variance = variances.get(term.label, 0.0)
            if variance > 0 and term.chipset in self.chip and term.model in self.model and term.arm in arm:
                by_chip = self.mixed.setdefault(term.model, {})
                by_chip[term.chipset] = by_chip.get(term.chipset, 0.0) + variance * arm[term.arm]
        self.inside: dict[str, Matrix] = {}
        for by_chip in self.mixed.values():
            for name, table in by_chip.items():
                self.inside[name] = self.inside.get(name, 0.0) + table

    def within_model(self, first: Cells, second: Cells) -> Matrix:
        """Full covariance between the last axes of two stacks of cells of one and the same model."""
        return self._mix(self.inside, first, second)

    def variance(self, cells: Cells) -> Numbers:
        """Prior variance of each cell."""
        chips = {name: table[cells.chipset, cells.chipset] for name, table in self.chip.items()}
        zero: Numbers = np.zeros(len(cells.arm))
        return sum((chips[name] * table[cells.arm, cells.arm] for name, table in self.inside.items()), zero)

    def population(self, first: Cells, second: Cells) -> Matrix:
        """Covariance through the population terms between any rows."""
        parts = self.population_tables(first, second).items()
        models = np.ix_(first.model, second.model)
        zero: Matrix = np.zeros((len(first.arm), len(second.arm)))
        return sum((part * self.model[name][models] for name, part in parts), zero)

    def population_tables(self, first: Cells, second: Cells) -> dict[str, Matrix]:
        """Population covariance by model kernel, models left out: for callers that go through models one by one."""
        return {name: self._mix(by_chip, first, second) for name, by_chip in self.mixed.items() if name != "same"}

    def _mix(self, by_chip: Mapping[str, Matrix], first: Cells, second: Cells) -> Matrix:
        arms = first.arm[..., :, None], second.arm[..., None, :]
        chips = first.chipset[..., :, None], second.chipset[..., None, :]
        zero: Matrix = np.zeros(np.broadcast_shapes(arms[0].shape, arms[1].shape))
        return sum((table[arms] * self.chip[name][chips] for name, table in by_chip.items()), zero)


def _identity(count: int) -> dict[str, Matrix]:
    return {"": np.ones((count, count)), "same": np.eye(count)}


def _equal(values: Text) -> Matrix:
    """1 where two values are equal and known; an unknown value equals only itself."""
    same = (values[:, None] == values[None, :]) & (values != "")[:, None]
    return np.asarray(same | np.eye(len(values), dtype=np.bool_), dtype=np.float64)


def _squared_exponential(points: Matrix) -> Matrix:
    squared = (points**2).sum(axis=1)
    distance = squared[:, None] + squared[None, :] - 2 * points @ points.T
    return np.asarray(np.exp(-0.5 * np.maximum(distance, 0.0)))


def _names(column: Text) -> list[str]:
    return [str(name) for name in np.unique(column)]


def _codes(names: tuple[str, ...], column: Text) -> Index:
    number = {name: code for code, name in enumerate(names)}
    values, inverse = np.unique(column, return_inverse=True)
    return np.array([number[str(value)] for value in values], dtype=np.intp)[inverse]
