"""A simulated phone as a runner of the SDK: it starts arms, runs them, gets hot, fails and dies as its truth says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ml.fleet import Execution, Phone
from nnfleet_client import ArmFailed, Executed, GoldenResult, Init, ProcessDied, RunTimeout
from policies.rollouts.staging import parted


class PhoneRunner:
    """Runs the models of one app on one phone. Latencies are what the phone drew, nothing sleeps.

    `session_minute`: how long the phone has been working when the window begins.
    """

    def __init__(self, phone: Phone, app: str, session_minute: float, rng: np.random.Generator) -> None:
        self._phone = phone
        self._app = app
        self._session_minute = session_minute
        self._rng = rng
        self.last: Execution | None = None

    def start(self, model: str, arm_id: str, arm: Mapping[str, Any]) -> PhoneSession:  # noqa: ARG002
        """Start an arm, by its id or its key in a rollout; raises ArmFailed where it does not compile and ProcessDied where its driver aborts."""
        self.last = self._phone.execution(self._app, model, parted(arm_id)[0], self._rng, self._session_minute)
        if self.last.failure == "process_died":
            raise ProcessDied
        if self.last.failure == "compile_failed":
            raise ArmFailed("compile", "ANEURALNETWORKS_OP_FAILED")
        return PhoneSession(self.last)

    def conditions(self) -> Mapping[str, Any]:
        """What the phone says of its temperature, before and after."""
        return {"thermal_status": self.last.thermal_status_after if self.last else 0}


class PhoneSession:
    """One started arm of a simulated phone."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._made = 0

    @property
    def init(self) -> Init:
        """What the start cost."""
        e = self._execution
        return Init(e.load_us, e.compile_us, e.cache_hit, e.first_run_us)

    @property
    def executed(self) -> Executed:
        """Who executed."""
        e = self._execution
        return Executed(e.executed_by, e.delegated_nodes, e.total_nodes, e.partitions)

    @property
    def memory_peak_kb(self) -> int:
        """Peak memory, in KiB."""
        return self._execution.memory_peak_kb

    def run(self) -> int:
        """The next latency of the window, in µs; raises RunTimeout on a phone that hangs."""
        if self._execution.failure == "timeout":
            raise RunTimeout
        latency_us = self._execution.runs_us[self._made % len(self._execution.runs_us)]
        self._made += 1
        return round(float(latency_us))

    def golden(self) -> GoldenResult | None:
        """The golden check's outcome."""
        e = self._execution
        if e.failure is not None or e.golden_max_rel_error is None:
            return None
        return GoldenResult(e.golden_checks, e.golden_passed, e.golden_max_rel_error)

    def close(self) -> None:
        """Nothing to free."""
