"""The operations of NNAPI and of LiteRT, and which feature level takes which: typed tables from `catalog/*.csv`.

Levels are 1…8. Nothing here is guessed: a LiteRT operation that the table does not hold has no answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Final

SIGNED_INT8_LEVEL: Final = 4
"""From this level on NNAPI has signed 8-bit operands; below it the runtime converts int8 to unsigned."""

UNSIGNED_INT8: Final = "TENSOR_QUANT8_ASYMM"
SIGNED_INT8: Final = "TENSOR_QUANT8_ASYMM_SIGNED"

OPERAND_OF_TYPE: Final = MappingProxyType(
    {
        "float32": "TENSOR_FLOAT32",
        "float16": "TENSOR_FLOAT16",
        "int32": "TENSOR_INT32",
        "int64": "TENSOR_INT32",  # constants only, where they fit
        "uint8": UNSIGNED_INT8,
        "bool": "TENSOR_BOOL8",
    }
)
"""Element type of a LiteRT tensor → NNAPI operand type; int8 depends on the level, see `operand_type`."""


@dataclass(frozen=True, slots=True)
class NnapiOperation:
    """One `ANEURALNETWORKS_*` operation. `operand_types`: type → level since which it is taken.

    `operand_types` is empty for operations whose tensors differ in type (QUANTIZE, IF, EMBEDDING_LOOKUP, …).
    """

    name: str
    code: int
    since_level: int
    operand_types: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LitertOperation:
    """One LiteRT builtin operation, and what the NNAPI delegate makes of it.

    `lowerings`: (since level, NNAPI operations that are all needed), lowest level first; empty where the operation
    never leaves the runtime. `types`: element type → level since which the delegate accepts it.
    """

    name: str
    lowerings: tuple[tuple[int, tuple[str, ...]], ...]
    types: Mapping[str, int]

    def lowering(self, level: int) -> tuple[str, ...]:
        """NNAPI operations that stand for this one at `level`; empty where there are none yet."""
        known = [operations for since, operations in self.lowerings if since <= level]
        return known[-1] if known else ()


def operand_type(element_type: str, level: int) -> str:
    """NNAPI operand type of a LiteRT tensor at `level`; raises KeyError for a type that NNAPI does not know."""
    if element_type == "int8":
        return SIGNED_INT8 if level >= SIGNED_INT8_LEVEL else UNSIGNED_INT8
    return OPERAND_OF_TYPE[element_type]


def _rows(file: str) -> Iterator[tuple[str, ...]]:
    text = (files("policies.catalog") / file).read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    yield from (tuple(line.split(",")) for line in lines[1:])


def _since(cell: str) -> Iterator[tuple[str, int]]:
    """(name, level) of a cell like `float32@1 int8@3`."""
    for entry in cell.split():
        name, _, level = entry.partition("@")
        yield name, int(level)


def _nnapi() -> Iterator[NnapiOperation]:
    for name, code, level, types in _rows("nnapi_operations.csv"):
        yield NnapiOperation(name, int(code), int(level), MappingProxyType(dict(_since(types))))


def _litert() -> Iterator[LitertOperation]:
    for name, lowerings, types in _rows("litert_operations.csv"):
        alternatives = tuple((level, tuple(names.split("+"))) for names, level in _since(lowerings))
        yield LitertOperation(name, alternatives, MappingProxyType(dict(_since(types))))


NNAPI_OPERATIONS: Final[Mapping[str, NnapiOperation]] = MappingProxyType({row.name: row for row in _nnapi()})
"""All operations of NNAPI feature level 8, by name."""

LITERT_OPERATIONS: Final[Mapping[str, LitertOperation]] = MappingProxyType({row.name: row for row in _litert()})
"""All LiteRT builtin operations, by name."""
