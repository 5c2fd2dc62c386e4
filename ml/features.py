"""What is known of chipsets and models beside their names, as coordinates: what lies near resembles.

Only facts that are there before anything was timed: of a chipset its generation, year and tier; of a model its
parameters and the layers of its files, which a compile or the file itself tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ml.table import Numbers, Table, Text, arm_part, arm_path

Matrix = NDArray[np.float64]

CHIP_LENGTHS: Final = MappingProxyType(
    {
        "chip_npu": 8.0,
        "chip_npu_version": 8.0,
        "chip_fp16": 0.5,
        "chip_npu_fp16": 0.5,
        "chip_year": 4.0,
        "chip_tier": 0.7,
    }
)
"""Differences at which chipsets stop to resemble each other; other numeric features take one standard deviation."""

CATEGORY_WEIGHT: Final = 0.5
"""Two different categories of one text feature lie √2 · this apart."""

MODEL_LENGTHS: Final = MappingProxyType({"params": 1.0, "layers": 0.5, "layers_of_format": 0.3})
"""The same for models, in logarithms: parameters, layers, and layers of one format's file over those of the model.
These lengths and the chipsets' were chosen by regret on releases 0.56.0 and 0.60.0 of AI Hub."""


@dataclass(frozen=True)
class Encoder:
    """What a universe of cells says about scales and features, learned once and then fixed.

    `lengths` and `centres` by numeric feature of chipsets, `categories` by text feature, `model_centres` by feature of
    models, `formats` whose layers were counted, `kernels` for which there is anything to compare.
    """

    lengths: Mapping[str, float]
    centres: Mapping[str, float]
    categories: Mapping[str, tuple[str, ...]]
    model_centres: Mapping[str, float]
    formats: tuple[str, ...]
    kernels: frozenset[str]

    @classmethod
    def of(cls, table: Table) -> Encoder:
        """Length scales, categories, and the kernels for which the table has anything to compare."""
        lengths, centres = {}, {}
        for name in sorted(name for name in table.number if name.startswith("chip_")):
            values = _by_name(table.chipset, table.number[name])
            known = values[np.isfinite(values)]
            if known.size:
                lengths[name] = CHIP_LENGTHS.get(name, float(known.std()) or 1.0)
                centres[name] = float(known.mean())
        texts = {name: column for name, column in sorted(table.text.items()) if name.startswith("chip_")}
        categories = {name: tuple(np.unique(column[column != ""]).tolist()) for name, column in texts.items()}
        sizes = {name: _median_by_name(table.model, _log(table, name)) for name in ("params", "layers")}
        centre = {name: float(np.nanmedian(size)) for name, size in sizes.items() if np.isfinite(size).any()}
        counted = arm_part(table, "format")[np.isfinite(_log(table, "layers"))]
        has_task = bool((text_column(table, "task") != "").any())
        facts = {
            "near": bool(lengths or categories),
            "family": bool((text_column(table, "family") != "").any()),
            "task": has_task,
            "size": bool(centre),
            "alike": has_task and bool(centre),
            "precision": bool((arm_part(table, "precision") != "").any()),
            "path": bool((arm_path(table) != "").any()),
        }
        present = frozenset(name for name, there in facts.items() if there)
        return cls(lengths, centres, categories, centre, tuple(np.unique(counted).tolist()), present | {"", "same"})

    def chip_coordinates(self, table: Table) -> Matrix:
        """One row per chipset of the table in name order. An unknown number takes the mean and a mark of its own."""
        parts: list[Numbers] = [np.zeros(len(np.unique(table.chipset)))]
        for name, length in self.lengths.items():
            values = _by_name(table.chipset, number_column(table, name))
            unknown = ~np.isfinite(values)
            parts += [np.where(unknown, self.centres[name], values) / length, unknown.astype(np.float64)]
        for name, known in self.categories.items():
            values_text = text_by_name(table.chipset, text_column(table, name))
            parts += [CATEGORY_WEIGHT * (values_text == category) for category in known]
        return np.column_stack(parts)

    def model_coordinates(self, table: Table) -> Matrix:
        """One row per model of the table in name order: logarithms of parameters and layers, a mark where unknown, and
        how each format's layers differ from the model's (0 where unknown).

        A format whose converter folds less than others leaves more layers to run.
        """
        parts: list[Numbers] = [np.zeros(len(np.unique(table.model)))]
        for name, centre in self.model_centres.items():
            values = _median_by_name(table.model, _log(table, name))
            unknown = ~np.isfinite(values)
            parts += [np.where(unknown, centre, values) / MODEL_LENGTHS[name], unknown.astype(np.float64)]
        layers, kind = _log(table, "layers"), arm_part(table, "format")
        usual = _median_by_name(table.model, layers)
        for known in self.formats:
            of_format = _median_by_name(table.model, np.where(kind == known, layers, np.nan))
            parts.append(np.nan_to_num(of_format - usual) / MODEL_LENGTHS["layers_of_format"])
        return np.column_stack(parts)


def text_by_name(names: Text, column: Text) -> Text:
    """The last value of each name in name order, by the alphabet; "" where none is known."""
    order = np.lexsort((column, names))
    _, first_of_reversed = np.unique(names[order][::-1], return_index=True)
    return column[order][::-1][first_of_reversed]


def number_column(table: Table, name: str) -> Numbers:
    """A column of numbers, NaN where the table has none."""
    return table.number.get(name, np.full(len(table), np.nan))


def text_column(table: Table, name: str) -> Text:
    """A column of text, "" where the table has none."""
    return table.text.get(name, np.full(len(table), ""))


def _by_name(names: Text, column: Numbers) -> Numbers:
    """The largest known value of each name in name order, NaN where none is known: rows in any order give the same."""
    values, inverse = np.unique(names, return_inverse=True)
    found = np.full(len(values), np.nan)
    np.fmax.at(found, inverse, column)
    return found


def _median_by_name(names: Text, column: Numbers) -> Numbers:
    """The (lower) median of the known values of each name in name order, NaN where none is known."""
    values, inverse = np.unique(names, return_inverse=True)
    known = np.isfinite(column)
    order = np.lexsort((column[known], inverse[known]))
    count = np.bincount(inverse[known], minlength=len(values))
    middle = np.cumsum(count) - count + (count - 1) // 2
    found = np.full(len(values), np.nan)
    found[count > 0] = column[known][order][middle[count > 0]]
    return found


def _log(table: Table, name: str) -> Numbers:
    values = number_column(table, name)
    return np.log(np.where(values > 0, values, np.nan))
