"""One window: what the runs of one arm measured, from its start to its close."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from nnfleet_client.errors import ArmFailed, RunTimeout
from nnfleet_client.histogram import Histogram
from nnfleet_client.plan import Rung
from nnfleet_client.runner import Executed, GoldenResult, Init, MeasuresMemory, Runner, Session

IMPOSSIBLE_DURATION: Final = "run:impossible_duration"
MOST_CODE_CHARACTERS: Final = 128


@dataclass(slots=True)
class Window:
    """Measurements of one arm. Warm-up runs and runs that failed are in none of the latencies.

    `failure` is the `phase:code` that ended it early (`run:timeout` for a run that outlived its limit), None when
    every run was made. What was not measured is None, never zero.
    """

    init: Init | None = None
    executed: Executed | None = None
    golden: GoldenResult | None = None
    memory_peak_kb: int | None = None
    count: int = 0
    min_us: int | None = None
    max_us: int | None = None
    sum_us: int = 0
    timeouts: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    histogram: Histogram = field(default_factory=Histogram)
    failure: str | None = None

    @property
    def good(self) -> bool:
        """It ran to its end and no golden check failed."""
        return self.failure is None and (self.golden is None or self.golden.good)

    def record(self, latency_us: float) -> None:
        """Add one run, to the microsecond. A negative or non-finite duration is an error: as zero it would flatter."""
        if not 0 <= latency_us < math.inf:
            self.errors[IMPOSSIBLE_DURATION] += 1
            return
        latency_us = round(latency_us)
        self.count += 1
        self.sum_us += latency_us
        self.min_us = latency_us if self.min_us is None else min(self.min_us, latency_us)
        self.max_us = latency_us if self.max_us is None else max(self.max_us, latency_us)
        self.histogram.record(latency_us)


def measure(runner: Runner, model: str, rung: Rung, runs: int, must_serve: bool) -> Window:
    """Start one arm, check it, warm it up, run it, close it. Trouble ends up in the window, never outside it.

    A golden check that fails ends the window before the first run, unless the arm `must_serve` because nothing
    lies below it. `warmup_runs` of the arm come first and are not measured. Only what is no ArmFailed or
    RunTimeout escapes (a process that dies).
    """
    window = Window()
    with _noting(window):
        session = runner.start(model, rung.arm_id, rung.arm)
        try:
            _use(session, window, rung.arm, runs, must_serve)
        finally:
            _close(session, window)
    return window


def _use(session: Session, window: Window, arm: Mapping[str, Any], runs: int, must_serve: bool) -> None:
    with _noting(window):
        window.golden = session.golden()
        if window.golden is None or window.golden.good or must_serve:
            _run(session, window, arm, runs)
    window.init = session.init
    window.executed = session.executed
    if isinstance(session, MeasuresMemory):
        window.memory_peak_kb = session.memory_peak_kb


def _run(session: Session, window: Window, arm: Mapping[str, Any], runs: int) -> None:
    for _ in range(_warmup_runs(arm)):
        session.run()
    for _ in range(runs):
        window.record(session.run())


def _close(session: Session, window: Window) -> None:
    # Counted, but no reason to leave the arm: the runs were made.
    try:
        session.close()
    except (ArmFailed, RunTimeout) as failed:
        window.errors[error_code(failed) if isinstance(failed, ArmFailed) else "close:timeout"] += 1


def error_code(failed: ArmFailed) -> str:
    """`phase:code` on one short line: a driver may say anything, and one odd character must not sink the record."""
    printable = "".join(character if character.isprintable() else " " for character in f"{failed.phase}:{failed.code}")
    return printable[:MOST_CODE_CHARACTERS]


@contextmanager
def _noting(window: Window) -> Iterator[None]:
    try:
        yield
    except ArmFailed as failed:
        window.failure = error_code(failed)
        window.errors[window.failure] += 1
    except RunTimeout:
        window.failure = "run:timeout"
        window.timeouts += 1


def _warmup_runs(arm: Mapping[str, Any]) -> int:
    wanted = arm.get("warmup_runs", 0)
    return wanted if isinstance(wanted, int) and wanted > 0 else 0
