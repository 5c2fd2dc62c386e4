"""A file of any of the kinds → its measurements. The content tells the kind, never the name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ml.datasets.lab import aihub_perf, benchmark_text, litert_benchmark, op_profile
from ml.datasets.lab.measurement import LabFileError, LabMeasurement

MAX_BYTES: Final = 32 * 1024 * 1024

_BENCHMARK: Final = re.compile(
    r"STARTING!|inference timings in us:|node\(s\) with delegate|Explicitly applied", re.IGNORECASE
)
Reader = Callable[[str, str], list[LabMeasurement]]
_KINDS: Final[tuple[tuple[Callable[[str], bool], Reader], ...]] = (
    (lambda text: litert_benchmark.HEADING in text, litert_benchmark.read),
    (op_profile.is_profile, op_profile.read),
    (lambda text: _BENCHMARK.search(text) is not None, benchmark_text.read),
)


def read(file: str, content: bytes, device: str | None = None) -> list[LabMeasurement]:
    """The measurements in a file, in its order; at least one. `device` is the one that is meant of a file of many.

    Raises LabFileError naming the file, and the line where one is malformed.
    """
    if len(content) > MAX_BYTES:
        raise LabFileError(file, f"over {MAX_BYTES} bytes")
    # What a driver logs may be any bytes; none of the lines that are read here hold more than ASCII.
    text = content.decode("utf-8", errors="replace")
    if aihub_perf.is_perf(text):
        return aihub_perf.read(file, text, device)
    reader = next((reader for told, reader in _KINDS if told(text)), None)
    if reader is None:
        raise LabFileError(file, "neither a benchmark's log, nor an operator profile, nor a perf.yaml")
    return reader(file, text)
