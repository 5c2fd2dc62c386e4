"""The paper trail of a use: a mark before every start, a window after every end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nnfleet_client.buffer import Buffer
from nnfleet_client.clock import Clock
from nnfleet_client.observations import ObservationWriter, Trial
from nnfleet_client.plan import Plan, Rung
from nnfleet_client.situations import Circumstances
from nnfleet_client.suspects import Suspects
from nnfleet_client.window import Window

Conditions = Callable[[], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Notebook:
    """Where a client's starts and ends are noted."""

    writer: ObservationWriter
    buffer: Buffer
    suspects: Suspects
    clock: Clock


@dataclass(slots=True)
class _Mark:
    trial: Trial
    attempt_id: str | None


class UseWitness:
    """Witness of one walk.

    The suspicion is always written; the attempt's mark and the window only where this use is `sampled`, both or
    neither, so that the share of unfinished starts stays what it is in the fleet.
    """

    def __init__(
        self, notebook: Notebook, plan: Plan, now: Circumstances, conditions: Conditions | None, sampled: bool
    ) -> None:
        self._notebook = notebook
        self._plan = plan
        self._now = now
        self._conditions = conditions
        self._sampled = sampled
        self._open: _Mark | None = None

    def excludes(self, rung: Rung, last: bool) -> bool:
        """True where the rung failed in this process or is suspected of a crash; the last one, of several in a row."""
        return self._notebook.suspects.excludes(self._plan.model, rung, self._notebook.clock.now_s(), last)

    def starting(self, rung: Rung, passed_over: Sequence[str]) -> None:
        """Write the suspicion and the mark, on disk where there is a folder, before the driver is touched."""
        propensity = self._plan.served_propensity(rung.arm_id, passed_over)
        trial = Trial(self._plan, rung, propensity, self._now.workload, self._conditions_now() or self._known())
        mark = self._notebook.writer.attempt(trial) if self._sampled else None
        attempt_id = None if mark is None else str(mark["record_id"])
        self._notebook.suspects.started(self._plan.model, rung, self._notebook.clock.now_s(), attempt_id)
        if mark is not None:
            self._notebook.buffer.add(mark, held=True)
        self._open = _Mark(trial, attempt_id)

    def ended(self, rung: Rung, window: Window, fell: bool) -> None:
        """Lift the suspicion; replace the mark by the window."""
        failure = window.failure or (None if window.good else "golden:failed")
        self._notebook.suspects.ended(self._plan.model, rung, failure)
        mark, self._open = self._open, None
        if mark is not None and self._sampled:
            record = self._notebook.writer.window(mark.trial, window, mark.attempt_id, self._conditions_now(), fell)
            self._notebook.buffer.add(record)
            self._notebook.buffer.settle(record["attempt_id"])

    def withdraw(self) -> None:
        """Take back a start that was called off from outside: no fault of the arm, and no crash."""
        if self._open is None:
            return
        self._notebook.suspects.withdrawn(self._plan.model, self._open.trial.rung)
        if self._open.attempt_id is not None:
            self._notebook.buffer.remove([self._open.attempt_id])
        self._open = None

    def let_go(self) -> None:
        """Leave the mark of a start that never ended to be sent; nothing to do after a walk that came back."""
        if self._open is None:
            return
        self._notebook.suspects.abandoned(self._plan.model, self._open.trial.rung)
        if self._open.attempt_id is not None:
            self._notebook.buffer.release(self._open.attempt_id)
        self._open = None

    def _conditions_now(self) -> Mapping[str, Any]:
        return {} if self._conditions is None else self._conditions()

    def _known(self) -> Mapping[str, Any]:
        thermal = None if self._now.thermal is None else int(self._now.thermal)
        return {"thermal_status": thermal, "battery_saver": self._now.battery_saver}
