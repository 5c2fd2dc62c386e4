"""Float islands: operations that compute in float between quantised ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from service.registry.lint.remark import Remark, Weight, operation_at
from service.registry.model_file import ModelFile

_FLOAT: Final = frozenset({"float32", "float16"})
_INTEGER: Final = frozenset({"int8", "uint8", "int16"})
_BORDER: Final = frozenset({"QUANTIZE", "DEQUANTIZE", "QuantizeLinear", "DequantizeLinear"})
"""They lead into an island and out of it, and are no part of it."""


def float_islands(model: ModelFile) -> Iterator[Remark]:
    """Runs of float operations with quantised ones before and after; float heads and tails are how models are made."""
    computing = [(at, node) for at, node in enumerate(model.graph.nodes) if node.op not in _BORDER]
    integer = [at for at, node in computing if node.activation in _INTEGER]
    if not integer:
        return
    for is_float, run in groupby(computing, key=lambda one: one[1].activation in _FLOAT):
        positions = [at for at, _ in run]
        if is_float and integer[0] < positions[0] and positions[-1] < integer[-1]:
            yield _remark(model, positions)


def _remark(model: ModelFile, positions: list[int]) -> Remark:
    first, last = (operation_at(model, at) for at in (positions[0], positions[-1]))
    where = first if first == last else f"{first} to {last}"
    advice = "an INT8 accelerator hands these to the CPU and takes over again: quantise them, or replace what cannot be"
    return Remark("float-island", Weight.WARNING, where, advice)
