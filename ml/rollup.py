"""Observations merged by cell: what the learner and the detectors read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple


class Cell(NamedTuple):
    """What is compared: one arm of one model on one driver stack (or, before stacks are known, one device class)."""

    group: str
    app: str
    model: str
    arm: str


@dataclass(frozen=True, slots=True)
class Rollup:
    """Windows of one cell under one workload, hot or cool; `hot` is None where they do not say. Counts are windows unless
    they say otherwise.

    `measured` windows have latencies; `log_p50_us` is the median of the logarithms of their medians (µs).
    `golden_failed` of `golden_checked` windows failed their golden check. `failed`: no run at all, `timed_out`: a hang.
    `crashed` of `attempts` starts were followed by no window. `delegated_share`: mean share of nodes that the delegate
    took, None where no window said.

    `on_cpu` of `measured` windows name the CPU as their executor. `runs`: runs in all windows. Means, None where no
    window said: `partitions`, `golden_log_error` (logarithm of the largest relative error of the outputs), `load_us`,
    `compile_us` of starts without a cached compilation, and `cold_share`, how many of the starts those are; `log_memory_kb`,
    of the logarithms of peak memory in KiB.

    `non_finite` of the checked windows had an output that is no number. `too_good`, beside all others: windows that nobody
    believed, as they were faster than anything that was measured and no golden check vouched for them.
    """

    cell: Cell
    workload: str
    hot: bool | None
    windows: int = 0
    measured: int = 0
    log_p50_us: float = 0.0
    golden_checked: int = 0
    golden_failed: int = 0
    failed: int = 0
    timed_out: int = 0
    attempts: int = 0
    crashed: int = 0
    delegated_share: float | None = None
    runs: int = 0
    on_cpu: int = 0
    partitions: float | None = None
    golden_log_error: float | None = None
    load_us: float | None = None
    compile_us: float | None = None
    cold_share: float | None = None
    log_memory_kb: float | None = None
    non_finite: int = 0
    too_good: int = 0

    @property
    def starts(self) -> int:
        """Starts that are known of. A phone sends the mark of a start only where no window came of it."""
        return self.windows + self.crashed


@dataclass(frozen=True, slots=True)
class CellSummary:
    """One cell over all workloads and temperatures. `startup_us`: loading, and compiling as often as starts are cold."""

    cell: Cell
    measured: int
    log_p50_us: float
    golden_checked: int
    golden_failed: int
    failures: int
    starts: int
    runs: int = 0
    on_cpu: int = 0
    delegated_share: float | None = None
    partitions: float | None = None
    golden_log_error: float | None = None
    startup_us: float | None = None
    log_memory_kb: float | None = None
    non_finite: int = 0
    too_good: int = 0


def regrouped(rollups: Iterable[Rollup], group_of: Mapping[str, str]) -> list[Rollup]:
    """The same rollups under other group names (device class → driver stack); unknown groups are left out."""
    return [
        replace(rollup, cell=rollup.cell._replace(group=group_of[rollup.cell.group]))
        for rollup in rollups
        if rollup.cell.group in group_of
    ]


def summaries(rollups: Iterable[Rollup]) -> dict[Cell, CellSummary]:
    """Cells with their windows pooled; latencies are averaged in the logarithm, weighted by windows."""
    pooled: defaultdict[Cell, list[Rollup]] = defaultdict(list)
    for rollup in rollups:
        pooled[rollup.cell].append(rollup)
    return {cell: _summary(cell, parts) for cell, parts in pooled.items()}


def _summary(cell: Cell, parts: list[Rollup]) -> CellSummary:
    measured = sum(part.measured for part in parts)
    log_sum = sum(part.log_p50_us * part.measured for part in parts)
    return CellSummary(
        cell,
        measured,
        log_sum / measured if measured else 0.0,
        sum(part.golden_checked for part in parts),
        sum(part.golden_failed for part in parts),
        # A failed golden check is counted there, not here: the arm ran.
        sum(part.failed + part.timed_out + part.crashed for part in parts),
        sum(part.starts for part in parts),
        sum(part.runs for part in parts),
        sum(part.on_cpu for part in parts),
        _mean((part.delegated_share, part.windows) for part in parts),
        _mean((part.partitions, part.windows) for part in parts),
        _mean((part.golden_log_error, part.windows) for part in parts),
        _mean((_startup_us(part), part.windows) for part in parts),
        _mean((part.log_memory_kb, part.windows) for part in parts),
        sum(part.non_finite for part in parts),
        sum(part.too_good for part in parts),
    )


def _startup_us(part: Rollup) -> float | None:
    if part.load_us is None:
        return None
    return part.load_us + (part.cold_share or 0.0) * (part.compile_us or 0.0)


def _mean(parts: Iterable[tuple[float | None, int]]) -> float | None:
    """Mean of the known values, weighted by windows; None where none is known."""
    known = [(value, windows) for value, windows in parts if value is not None and windows]
    return sum(value * n for value, n in known) / sum(n for _, n in known) if known else None
