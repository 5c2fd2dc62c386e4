"""Observations in their wire form: one record is one window of runs of one arm, or the mark of a start."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from nnfleet_client.clock import Clock
from nnfleet_client.plan import Plan, Rung
from nnfleet_client.record_id import record_id
from nnfleet_client.runner import GoldenResult, Init
from nnfleet_client.window import Window

WINDOW: Final = "window"
ATTEMPT: Final = "attempt"
MOST_REL_ERROR: Final = 1e12

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """Who speaks: the same in every record of a client. Holds no id of a person or a unit."""

    report_id: str
    app: str
    sdk: str
    app_version: str | None


@dataclass(frozen=True, slots=True)
class Trial:
    """One arm on its way up or down a ladder: the plan it belongs to, its chance, the conditions before it."""

    plan: Plan
    rung: Rung
    propensity: float
    workload: str | None
    before: Mapping[str, Any]


class ObservationWriter:
    """Writes records. What is not known is left out, because absent is not zero."""

    def __init__(self, origin: Origin, clock: Clock, rng: random.Random) -> None:
        self._origin = origin
        self._clock = clock
        self._rng = rng

    def attempt(self, trial: Trial) -> Record:
        """The mark of a start: everything known before the driver is touched."""
        return _present(self._head(trial, ATTEMPT) | {"conditions": {"before": dict(trial.before)}} | self._tail())

    def window(
        self, trial: Trial, window: Window, attempt_id: str | None, after: Mapping[str, Any], fell: bool
    ) -> Record:
        """The measurements of an arm. `fell` (the walk went one rung down) is its one `fallback`."""
        measured = {
            "attempt_id": attempt_id,
            "executed": None if window.executed is None else asdict(window.executed),
            "init": None if window.init is None else _init(window.init),
            "runs": {
                "count": window.count,
                "errors": dict(window.errors),
                "timeouts": window.timeouts,
                "fallbacks": int(fell),
                "latency_us": _latency(window),
            },
            "conditions": {"before": dict(trial.before), "after": dict(after) or None},
            "golden": None if window.golden is None else _golden(window.golden),
            "memory_peak_kb": window.memory_peak_kb,
        }
        return _present(self._head(trial, WINDOW) | measured | self._tail())

    def _head(self, trial: Trial, kind: str) -> Record:
        return {
            "record_id": record_id(self._clock.now_s(), self._rng),
            "report_id": self._origin.report_id,
            "app": self._origin.app,
            "release": trial.plan.release,
            "model": trial.plan.model,
            "plan": trial.plan.name,
            "arm": trial.rung.arm_id,
            "propensity": trial.propensity,
            "workload": trial.workload,
            "kind": kind,
            "requested": {
                "delegate": trial.rung.arm.get("delegate"),
                "accelerator": trial.rung.arm.get("accelerator"),
            },
        }

    def _tail(self) -> Record:
        now = datetime.fromtimestamp(self._clock.now_s(), UTC)
        return {
            "device_time": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "monotonic_ms": int(self._clock.monotonic_s() * 1000),
            "sdk": self._origin.sdk,
            "app_version": self._origin.app_version,
        }


def _init(init: Init) -> Record:
    # A negative duration is a broken clock: unknown, not zero, and no reason to lose the record.
    return {name: value if value is None or value >= 0 else None for name, value in asdict(init).items()}


def _golden(golden: GoldenResult) -> Record:
    # A driver whose output is infinite, or no number at all, is the very one to hear about.
    error = golden.max_rel_error
    return asdict(golden) | {"max_rel_error": min(MOST_REL_ERROR, error)}


def _latency(window: Window) -> Record | None:
    if window.count == 0:
        return None
    return {
        "min": window.min_us,
        "max": window.max_us,
        "sum": window.sum_us,
        "histogram": window.histogram.to_json(),
    }


def _present(record: Mapping[str, Any]) -> Record:
    """Without what is unknown: None, and numbers that JSON cannot say (a driver's NaN)."""
    return {
        key: _present(value) if isinstance(value, Mapping) else value
        for key, value in record.items()
        if value is not None and not (isinstance(value, float) and not math.isfinite(value))
    }
