"""What drivers support, as a heat map: operations down, drivers and their operand types across. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from policies.silicon import Accelerator

SHORT_TYPES: Final = {
    "TENSOR_FLOAT32": "F32", "TENSOR_FLOAT16": "F16", "TENSOR_INT32": "I32", "TENSOR_BOOL8": "B8",
    "TENSOR_QUANT8_ASYMM": "U8", "TENSOR_QUANT8_ASYMM_SIGNED": "I8", "TENSOR_QUANT8_SYMM": "S8",
    "TENSOR_QUANT8_SYMM_PER_CHANNEL": "C8", "TENSOR_QUANT16_SYMM": "S16", "TENSOR_QUANT16_ASYMM": "U16",
}  # fmt: skip
"""NNAPI's operand types as a cell has room for them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A type that a driver takes for some operation; `short` is what a cell says."""

    type: str
    short: str


@dataclass(frozen=True, slots=True)
class DriverColumns:
    """A driver and its columns; none where the probe did not ask it. `taken`: operations that it takes in some type."""

    name: str
    columns: tuple[Column, ...]
    asked: bool
    taken: int


@dataclass(frozen=True, slots=True)
class SupportMap:
    """`rows`: an operation and its cells, one a column of each driver that was asked; "" where it is not taken."""

    drivers: tuple[DriverColumns, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def types(self) -> dict[str, str]:
        """Short name → type, of all columns: the key to the map."""
        return {column.short: column.type for driver in self.drivers for column in driver.columns}


def support_map(accelerators: Iterable[Accelerator]) -> SupportMap | None:
    """The map; None where no driver was asked, or none takes anything."""
    found = list(accelerators)
    operations = sorted(
        {operation for driver in found for operation, types in (driver.supports or {}).items() if types}
    )
    if not operations:
        return None
    drivers = tuple(_driver(driver) for driver in found)
    rows = tuple((operation, tuple(_cells(operation, found, drivers))) for operation in operations)
    return SupportMap(drivers, rows)


def _driver(driver: Accelerator) -> DriverColumns:
    supports = driver.supports or {}
    types = {name for taken in supports.values() for name in taken}
    known = [name for name in SHORT_TYPES if name in types]
    columns = tuple(Column(name, SHORT_TYPES.get(name, name)) for name in [*known, *sorted(types - {*known})])
    return DriverColumns(driver.name, columns, driver.supports is not None, sum(map(bool, supports.values())))


def _cells(operation: str, found: Iterable[Accelerator], drivers: Iterable[DriverColumns]) -> Iterable[str]:
    for driver, drawn in zip(found, drivers, strict=True):
        taken = (driver.supports or {}).get(operation, ())
        yield from (column.short if column.type in taken else "" for column in drawn.columns)
