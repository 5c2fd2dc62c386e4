"""One lab measurement as its file states it. Units are in the names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """The tool that wrote the file."""

    BENCHMARK_MODEL = "benchmark-model"
    OP_PROFILE = "op-profile"
    LITERT_BENCHMARK = "litert-benchmark"
    AIHUB_PERF = "aihub-perf"


class LabFileError(ValueError):
    """A file, or a line of it, that cannot be read; the message names the file, and the line where there is one."""

    def __init__(self, file: str, what: str, line: int | None = None) -> None:
        super().__init__(f"{file}: {what}" if line is None else f"{file}, line {line}: {what}")
        self.file, self.line, self.what = file, line, what


@dataclass(frozen=True, slots=True)
class Claim:
    """Nodes of the main graph that a delegate took over, by the delegate's own name; None where the file gives no number.

    `partitions` counts the pieces that the graph fell into, claimed and unclaimed alike.
    """

    delegate: str
    nodes: int | None = None
    total: int | None = None
    partitions: int | None = None

    @property
    def took_any(self) -> bool:
        """Whether anything was taken over at all."""
        return self.nodes is None or self.nodes > 0


@dataclass(frozen=True, slots=True)
class LabMeasurement:
    """A series of runs of one file on one device. `place` says where in the file it stands.

    `latency_us` is the mean of the steady state, warm-up runs left out; `init_us` is loading and compiling together, as the
    tools time them. `claims` are in the order in which delegates took nodes over. `accelerators` are the NNAPI drivers that
    the device listed. `file_mb` is the model file's size in 10⁶ bytes, as it was printed; `precision` and `format` are
    stated only by files that say what they ran.
    """

    source: Source
    place: str
    latency_us: float
    runs: int | None = None
    min_us: float | None = None
    max_us: float | None = None
    init_us: float | None = None
    first_run_us: float | None = None
    memory_peak_kb: int | None = None
    asked_delegate: str | None = None
    asked_accelerator: str | None = None
    accelerators: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    file_mb: str | None = None
    precision: str | None = None
    format: str | None = None
