"""The tidy table: one row per measured (chipset, model, arm), or one per cell to be predicted.

Columns: `chipset`, `model`, `arm` (text) and `latency_ms` (milliseconds, > 0) are needed; `family`, `task`,
`precision`, `format`, `delegate` (text), `params`, `layers` (of the file), `coverage`, `accuracy_drop` (numbers) and any
`chip_*` (a feature of the chipset, number or text) are used where present. Text "" and number NaN mean unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

Text = NDArray[np.str_]
Numbers = NDArray[np.float64]
Index = NDArray[np.intp]

KEYS: Final = ("chipset", "model", "arm")
OPTIONAL_TEXT: Final = ("family", "task", "precision", "format", "delegate")
OPTIONAL_NUMBERS: Final = ("params", "layers", "coverage", "accuracy_drop")
DECISION_FORMATS: Final = frozenset({"tflite", "onnx", "dlc", "qnn-context", "onnx-epcontext"})


class TableError(ValueError):
    """A table lacks a column or holds a value that cannot be used; the message names column, row and value."""


@dataclass(frozen=True)
class Table:
    """Columns of equal length. `latency_ms` is NaN where the row is a cell to predict."""

    chipset: Text
    model: Text
    arm: Text
    latency_ms: Numbers
    text: Mapping[str, Text] = field(default_factory=dict)
    number: Mapping[str, Numbers] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> Self:
        """A table from columns by name; `latency_ms` may be missing. Raises TableError on unequal lengths."""
        lengths = {name: len(column) for name, column in columns.items()}
        missing = [name for name in KEYS if name not in columns]
        if missing:
            raise TableError(f"missing column {missing[0]!r}; there are {sorted(columns)}")
        if len(set(lengths.values())) > 1:
            raise TableError(f"columns differ in length: {lengths}")
        count = lengths["arm"]
        chipset, model, arm = (np.asarray(columns[name], dtype=np.str_) for name in KEYS)
        latency = _floats(columns.get("latency_ms", np.full(count, np.nan)))
        text = {name: np.asarray(columns[name], dtype=np.str_) for name in OPTIONAL_TEXT if name in columns}
        number = {name: _floats(columns[name]) for name in OPTIONAL_NUMBERS if name in columns}
        for name, column in columns.items():
            if name.startswith("chip_"):
                if _is_text(column):
                    text[name] = np.asarray([value or "" for value in column], dtype=np.str_)
                else:
                    number[name] = _floats(column)
        return cls(chipset, model, arm, latency, text, number)

    def __len__(self) -> int:
        return len(self.arm)

    @property
    def log_ms(self) -> Numbers:
        """Natural logarithm of the latency in milliseconds."""
        return np.log(self.latency_ms)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Every column by name."""
        keys = {"chipset": self.chipset, "model": self.model, "arm": self.arm, "latency_ms": self.latency_ms}
        return {**keys, **self.text, **self.number}

    def take(self, rows: NDArray[Any]) -> Table:
        """The rows at an index or mask, in that order."""
        return Table(
            self.chipset[rows],
            self.model[rows],
            self.arm[rows],
            self.latency_ms[rows],
            {name: column[rows] for name, column in self.text.items()},
            {name: column[rows] for name, column in self.number.items()},
        )

    def units(self) -> Index:
        """Number 0… of each row's (chipset, model), in order of first chipset, then model."""
        _, chip = np.unique(self.chipset, return_inverse=True)
        _, model = np.unique(self.model, return_inverse=True)
        return np.unique(chip * (model.max(initial=0) + 1) + model, return_inverse=True)[1].astype(np.intp)


def concatenate(first: Table, second: Table) -> Table:
    """Rows of both; a column that one lacks is unknown there."""

    def text(name: str) -> Text:
        return np.concatenate([table.text.get(name, np.full(len(table), "")) for table in (first, second)])

    def number(name: str) -> Numbers:
        return np.concatenate([table.number.get(name, np.full(len(table), np.nan)) for table in (first, second)])

    return Table(
        np.concatenate([first.chipset, second.chipset]),
        np.concatenate([first.model, second.model]),
        np.concatenate([first.arm, second.arm]),
        np.concatenate([first.latency_ms, second.latency_ms]),
        {name: text(name) for name in sorted({*first.text, *second.text})},
        {name: number(name) for name in sorted({*first.number, *second.number})},
    )


def read_table(path: Path) -> Table:
    """Read a tidy CSV or Parquet file of measurements.

    Raises TableError where it is neither, a needed column is missing, a key is empty or a latency is no positive
    finite number: the message names the column, the row (the first row of data is 1) and the value.
    """
    arrow = _read_arrow(path)
    for name in (*KEYS, "latency_ms"):
        if name not in arrow.column_names:
            raise TableError(f"{path}: missing column {name!r}; it holds {', '.join(arrow.column_names)}")
    used = [
        name
        for name in arrow.column_names
        if name in {*KEYS, "latency_ms", *OPTIONAL_TEXT, *OPTIONAL_NUMBERS} or name.startswith("chip_")
    ]
    table = Table.of({name: _column(path, arrow, name) for name in used})
    for row, problem in _problems(table):
        raise TableError(f"{path}: row {row + 1}: {problem}")
    return table


def decision_subset(table: Table) -> Table:
    """The rows on which arms can be compared: formats an app chooses among, and units with two arms or more.

    Language and voice runtimes fix their own format, so their rows are left out, as are (chipset, model) units that
    were measured with one arm. Of several rows of one cell the fastest stays. Order: chipset, model, arm.
    """
    if "format" in table.text:
        table = table.take(np.isin(table.text["format"], list(DECISION_FORMATS)))
    table = table.take(np.lexsort((table.latency_ms, table.arm, table.model, table.chipset)))
    same = [getattr(table, key)[1:] == getattr(table, key)[:-1] for key in KEYS]
    table = table.take(np.r_[True, ~(same[0] & same[1] & same[2])][: len(table)])
    unit = table.units()
    return table.take(np.bincount(unit)[unit] >= 2)


_ARM_PARTS: Final = MappingProxyType({"precision": 0, "format": 1, "delegate": 2})


def arm_part(table: Table, part: str) -> Text:
    """`precision`, `format` or `delegate` of each row: its column, else read from the arm id, else ""."""
    parsed = np.array([_split_arm(arm)[_ARM_PARTS[part]] for arm in table.arm.tolist()], dtype=np.str_)
    given = table.text.get(part)
    return parsed if given is None else np.where(given == "", parsed, given)


def arm_path(table: Table) -> Text:
    """How an arm runs apart from its precision: `format.delegate[.accelerator]`, "" where the id does not say."""
    paths = [arm.split(".", 1)[1] if arm.count(".") >= 2 else "" for arm in table.arm.tolist()]
    given = [
        ".".join(filter(None, parts))
        for parts in zip(arm_part(table, "format").tolist(), arm_part(table, "delegate").tolist(), strict=True)
    ]
    return np.array([path or other for path, other in zip(paths, given, strict=True)], dtype=np.str_)


def _split_arm(arm: str) -> tuple[str, str, str]:
    """(precision, format, delegate) of `{precision}.{format}.{delegate}[.{accelerator}]`."""
    parts = arm.split(".", 3)
    return (parts[0], parts[1], parts[2]) if len(parts) >= 3 else ("", "", "")


def _read_arrow(path: Path) -> pa.Table:
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path)
        if path.suffix in {".csv", ".gz"}:
            return pyarrow.csv.read_csv(path)
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"{path}: cannot be read: {error}") from error
    raise TableError(f"{path}: neither .csv nor .parquet")


def _column(path: Path, arrow: pa.Table, name: str) -> NDArray[Any]:
    column = arrow[name]
    wants_text = name in {*KEYS, *OPTIONAL_TEXT}
    if wants_text or (name.startswith("chip_") and pa.types.is_string(column.type)):
        return np.asarray(pc.fill_null(pc.cast(column, pa.string()), "").to_pylist(), dtype=np.str_)
    try:
        return np.asarray(pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    except pa.ArrowInvalid:
        row, value = _first_no_number(column.to_pylist())
        raise TableError(f"{path}: row {row + 1}: {name} is no number: {value!r}") from None


def _first_no_number(values: list[Any]) -> tuple[int, Any]:
    for row, value in enumerate(values):
        try:
            float(value if value is not None else "nan")
        except (TypeError, ValueError):
            return row, value
    return 0, values[0] if values else None


def _problems(table: Table) -> Iterator[tuple[int, str]]:
    for key in KEYS:
        for row in np.flatnonzero(getattr(table, key) == "")[:1]:
            yield int(row), f"{key} is empty"
    bad = ~(np.isfinite(table.latency_ms) & (table.latency_ms > 0))
    for row in np.flatnonzero(bad)[:1]:
        yield int(row), f"latency_ms is no positive number: {table.latency_ms[row]}"


def _is_text(column: Sequence[Any] | NDArray[Any]) -> bool:
    return any(isinstance(value, str) for value in column[:1]) or any(isinstance(value, str) for value in column)


def _floats(column: Sequence[Any] | NDArray[Any]) -> Numbers:
    return np.asarray([np.nan if value is None else value for value in column], dtype=np.float64)
