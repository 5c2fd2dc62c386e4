"""What an app brings: a runner that can start an arm, and the session it gets back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Init:
    """What a start cost, in microseconds. None is "not measured", never zero."""

    load_us: int | None = None
    compile_us: int | None = None
    cache_hit: bool | None = None
    first_run_us: int | None = None


@dataclass(frozen=True, slots=True)
class Executed:
    """Who really ran: the runtime's own word, not what was asked for."""

    by: str
    delegated_nodes: int | None = None
    total_nodes: int | None = None
    partitions: int | None = None


@dataclass(frozen=True, slots=True)
class GoldenResult:
    """Outputs against a reference on a fixed input: checks made, checks passed, the largest relative error seen."""

    checks: int
    passed: int
    max_rel_error: float

    @property
    def good(self) -> bool:
        """Every check passed."""
        return self.passed >= self.checks


class Session(Protocol):
    """One started arm."""

    @property
    def init(self) -> Init:
        """What the start cost; read after the runs, so a session may fill `first_run_us` late."""
        ...

    @property
    def executed(self) -> Executed:
        """Who ran; read after the runs."""
        ...

    def run(self) -> int:
        """Run once; the latency in microseconds. Raises ArmFailed or RunTimeout."""
        ...

    def golden(self) -> GoldenResult | None:
        """Check outputs against the reference; None where there is none. Raises ArmFailed or RunTimeout."""
        ...

    def close(self) -> None:
        """Free what the start took. Raises ArmFailed."""
        ...


@runtime_checkable
class MeasuresMemory(Protocol):
    """A session that knows its peak memory may say so."""

    @property
    def memory_peak_kb(self) -> int:
        """Peak resident memory of the session, in KiB."""
        ...


class Runner(Protocol):
    """Starts arms. It honours the arm's `limits` itself: only it can contain a driver that hangs or aborts."""

    def start(self, model: str, arm_id: str, arm: Mapping[str, Any]) -> Session:
        """Load, compile and prepare one arm (an entry of the document's `arms`). Raises ArmFailed or RunTimeout."""
        ...
