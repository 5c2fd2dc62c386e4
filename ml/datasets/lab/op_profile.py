"""The operator profile that `benchmark_model --op_profiling_output_mode=csv` writes: one row an operation or delegate kernel.

Columns are found by their names in the header row, as builds differ in which they write. The names of operations may hold
commas; they stand last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ml.datasets.lab.measurement import Claim, LabFileError, LabMeasurement, Source

US_A_MS: Final = 1_000
NODE_TYPE: Final = "node type"
_MEAN: Final = "avg_ms"
_TIMES: Final = "times called"
_RUN_ORDER: Final = "Run Order"
_INIT: Final = "Profiling Info for Benchmark Initialization"
_HEADING: Final = re.compile(r"=+ (?P<name>[^=]+?) =+\s*$")


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    initialising: bool
    node_type: str
    mean_us: float
    times: int


def is_profile(text: str) -> bool:
    """Whether a text has the header row of such a profile."""
    return any(line.startswith(f"{NODE_TYPE},") for line in text.splitlines())


def read(file: str, text: str) -> list[LabMeasurement]:
    """The one profile in a file: a run takes what its operations take. Raises LabFileError where rows are malformed or missing."""
    rows = list(_rows(file, text.splitlines()))
    runs = [row for row in rows if not row.initialising]
    if not runs:
        raise LabFileError(file, "no operations of regular runs were profiled")
    init = [row.mean_us for row in rows if row.initialising]
    kernels = dict.fromkeys(row.node_type for row in runs if row.node_type.lower().endswith("delegate"))
    return [
        LabMeasurement(
            Source.OP_PROFILE,
            place=f"lines {runs[0].number} to {runs[-1].number}",
            latency_us=round(sum(row.mean_us for row in runs), 3),
            runs=max(row.times for row in runs),
            init_us=round(sum(init), 3) if init else None,
            claims=tuple(Claim(name) for name in kernels),
        )
    ]


def _rows(file: str, lines: Sequence[str]) -> Iterator[_Row]:
    """Rows of the tables in order of execution; those by time and by type hold the same once more."""
    header: list[str] = []
    initialising, wanted = False, True
    for number, line in enumerate(lines, start=1):
        if "Profiling Info for" in line:
            initialising, header = _INIT in line, []
        elif found := _HEADING.search(line):
            wanted, header = found["name"] == _RUN_ORDER, []
        elif line.startswith(f"{NODE_TYPE},"):
            header = [name.strip() for name in line.split(",")]
        elif not line.strip():
            header = []
        elif wanted and header:
            yield _row(file, number, initialising, header, line)


def _row(file: str, number: int, initialising: bool, header: Sequence[str], line: str) -> _Row:
    values = dict(zip(header, (value.strip() for value in line.split(",", len(header) - 1)), strict=False))
    try:
        return _Row(
            number, initialising, values[NODE_TYPE], float(values[_MEAN]) * US_A_MS, int(values.get(_TIMES, "1"))
        )
    except (KeyError, ValueError) as error:
        raise LabFileError(file, f"no row of {', '.join(header)}: {line.strip()[:200]!r}", number) from error
