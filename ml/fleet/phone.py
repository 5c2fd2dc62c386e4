"""A phone and what happens when it runs an arm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ml.fleet.assumptions import (
    CACHE_HIT_SHARE,
    GOLDEN_CHECKS,
    HOT_AFTER_MINUTES,
    RUN_JITTER,
    RUNS_A_WINDOW,
    SLOW_RUN_FACTOR,
    SLOW_RUN_SHARE,
    WINDOW_NOISE,
)
from ml.fleet.truth import Bench, Truth

MIN_RUNS: Final = 5
MAX_RUNS: Final = 300


@dataclass(frozen=True)
class Execution:
    """One window of runs of one arm.

    Times in microseconds; `runs_us` holds the latency of each warm run, empty after a failure. `failure` is None,
    "compile_failed", "timeout" or "process_died" (an attempt that no window follows). `session_minute` is when in a
    session the window was taken: from the fifth minute on the phone is hot.
    """

    arm: str
    failure: str | None
    executed_by: str = ""
    delegated_nodes: int = 0
    total_nodes: int = 0
    partitions: int = 0
    load_us: int = 0
    compile_us: int = 0
    cache_hit: bool = False
    first_run_us: int = 0
    runs_us: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    session_minute: float = 0.0
    thermal_status_before: int = 0
    thermal_status_after: int = 0
    golden_checks: int = 0
    golden_passed: int = 0
    golden_max_rel_error: float | None = None
    memory_peak_kb: int = 0


@dataclass(frozen=True, eq=False)
class Phone:
    """One phone. `report` is the CapabilityReport, the same bytes for all phones of one class.

    `kind` is "measured" or "modelled"; `chipset` AI Hub's key of a measured one, else the SoC's canonical name.
    `faults` names what is wrong with phones of its class: for judging detectors, never for deciding.
    """

    unit_id: str
    report: bytes
    soc: str
    chipset: str
    kind: Literal["measured", "modelled"]
    device_class: str
    models_in_use: tuple[tuple[str, str], ...]
    faults: tuple[str, ...]
    bench: Bench

    @property
    def apps(self) -> tuple[str, ...]:
        """Apps installed, sorted."""
        return tuple(sorted({app for app, _model in self.models_in_use}))

    def execution(
        self, app: str, model: str, arm_id: str, rng: np.random.Generator, session_minute: float = 0.0
    ) -> Execution:
        """What happens when the phone runs the arm for one window, so many minutes into a session."""
        truth = self.bench.truth(app, model, arm_id)
        if truth is None:
            return Execution(arm_id, "compile_failed")
        cache, wobble, spread = rng.random(3)
        hit = bool(cache < CACHE_HIT_SHARE)
        compile_us = int((truth.compile_cached_us if hit else truth.compile_cold_us) * (0.9 + 0.2 * wobble))
        if truth.failure is not None:
            return Execution(arm_id, truth.failure, load_us=int(truth.load_us), compile_us=compile_us)
        hot = session_minute >= HOT_AFTER_MINUTES
        runs = _runs(truth.steady_us * (truth.hot_factor if hot else 1.0), float(spread), rng)
        return Execution(
            arm_id,
            None,
            executed_by=truth.executed_by,
            delegated_nodes=truth.delegated_nodes,
            total_nodes=truth.total_nodes,
            partitions=truth.partitions,
            load_us=int(truth.load_us),
            compile_us=compile_us,
            cache_hit=hit,
            first_run_us=int(truth.first_run_us * (0.9 + 0.2 * wobble)),
            runs_us=runs,
            session_minute=session_minute,
            thermal_status_before=truth.hot_status if hot else 0,
            thermal_status_after=truth.hot_status if hot else 0,
            golden_checks=GOLDEN_CHECKS,
            golden_passed=GOLDEN_CHECKS if truth.golden_passes else 0,
            golden_max_rel_error=truth.golden_error * (0.8 + 0.4 * float(wobble)),
            memory_peak_kb=int(truth.memory_kb * (0.95 + 0.1 * wobble)),
        )


def _runs(expected_us: float, spread: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Latencies of one window: the window's own deviation, the runs' jitter, and a few interrupted runs."""
    mean, deviation = RUNS_A_WINDOW
    normal = rng.standard_normal(2)
    count = int(min(MAX_RUNS, max(MIN_RUNS, np.exp(mean + deviation * normal[0]))))
    (calm_share, calm), (_rough_share, rough) = WINDOW_NOISE
    window = (calm if spread < calm_share else rough) * normal[1]
    runs: NDArray[np.float64] = expected_us * np.exp(window + RUN_JITTER * rng.standard_normal(count))
    runs[rng.random(count) < SLOW_RUN_SHARE] *= SLOW_RUN_FACTOR
    return runs


def expected_ms(truth: Truth | None, workload: str) -> float | None:
    """Noise-free latency of a warm run in milliseconds; None where the arm is not acceptable."""
    return truth.expected_us(workload) / 1e3 if truth is not None and truth.acceptable else None
