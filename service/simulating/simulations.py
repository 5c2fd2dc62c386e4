"""Simulations: a draft on the whole stored fleet, within a time that the caller states, one at a time in a worker."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from threading import Lock, Thread
from typing import Any, ClassVar, Final

from sqlalchemy import Engine
from sqlmodel import Session

from policies.difference import difference
from policies.revision import Kind
from policies.simulating.basis import Proposed
from policies.simulating.simulation_json import simulation_json
from policies.simulating.simulator import Outlook, Simulator
from policies.simulating.tally import Tally
from service import clock
from service.intake.admission import TryLater
from service.releasing.release_content import ReleaseContent
from service.simulating import fleet
from service.simulating.drafts import Draft, proposed
from service.simulating.limits import BUDGET_S
from service.store.simulation_runs import DONE, FAILED, RUNNING, Record, recorded
from service.store.tables import SimulationRunRow

_TERMS: Final = ("telemetry", "valid_s")
NOTED_EVERY_S: Final = 0.25
"""How closely a run is noted: a write each time."""


class SimulationRunning(TryLater):
    """This worker simulates something else."""

    code: ClassVar[str] = "simulation-running"


@dataclass(frozen=True, slots=True)
class Asked:
    """A draft, the release it is compared with, today, and how long that may take. `by`: who asked, of which revision."""

    draft: Draft
    live: ReleaseContent
    now: datetime
    budget_s: float = BUDGET_S
    by: str = ""
    revision: int | None = None


@dataclass(frozen=True, slots=True)
class _Ready:
    asked: Asked
    changes: Sequence[Proposed]
    total: int


class Simulations:
    """Runs them. Of each is stored how far it is, so that whoever waits is told, by any worker."""

    def __init__(self, engine: Engine, timer_s: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._timer_s = timer_s
        self._running = Lock()

    def run(self, asked: Asked) -> dict[str, Any]:
        """What would change, as JSON values; raises SimulationRunning, and InvalidField for what decides nothing.

        Where the time is over before the fleet is, `sampled` is true, and what was seen is an evenly drawn sample.
        """
        self._take_turn()
        try:
            ready = self._ready(asked)
            with recorded(self._engine, _row(ready)) as record:
                return self._carried_out(ready, record, keep=False)
        finally:
            self._running.release()

    def begin(self, asked: Asked, then: Callable[[dict[str, Any]], None] = lambda _found: None) -> int:
        """Run it beside the caller, who looks at its number; raises as `run` does. `then` gets what was found."""
        with ExitStack() as held:
            self._take_turn()
            held.callback(self._running.release)
            ready = self._ready(asked)
            record = held.enter_context(recorded(self._engine, _row(ready)))
            # A daemon: where the worker ends, the run ends with it, and is lost.
            Thread(target=self._beside, args=(held.pop_all(), ready, record, then), daemon=True).start()
        return record.number

    def _take_turn(self) -> None:
        if not self._running.acquire(blocking=False):
            raise SimulationRunning("this worker simulates another change", round(BUDGET_S))

    def _ready(self, asked: Asked) -> _Ready:
        with Session(self._engine) as session:
            changes = proposed(session, asked.draft, asked.live, asked.now.date())
            return _Ready(asked, changes, fleet.count_reports(session))

    def _beside(self, held: ExitStack, ready: _Ready, record: Record, then: Callable[[dict[str, Any]], None]) -> None:
        with held:
            self._carried_out(ready, record, keep=True, then=then)

    def _carried_out(
        self,
        ready: _Ready,
        record: Record,
        *,
        keep: bool,
        then: Callable[[dict[str, Any]], None] = lambda _found: None,
    ) -> dict[str, Any]:
        try:
            found = self._found(ready, record)
            then(found)
        except Exception as error:
            record.end(FAILED, clock.now(), why=f"{type(error).__name__}: {error}")
            raise
        record.end(DONE, clock.now(), found if keep else None, reports_done=found["seen"]["reports"])
        return found

    def _found(self, ready: _Ready, record: Record) -> dict[str, Any]:
        asked, changes, total = ready.asked, ready.changes, ready.total
        with Session(self._engine) as session:
            tally, decided = self._seen(session, changes, self._timer_s() + asked.budget_s, record)
        return {
            "kind": asked.draft.kind,
            "release": asked.live.number,
            "in_rollout": asked.live.staged is not None,
            "at": asked.now.isoformat(timespec="seconds"),
            "apps": [change.app for change in changes],
            "reports_total": total,
            "sampled": tally.seen.reports < total,
            "budget_s": asked.budget_s,
            "decided": decided,
            "terms": [change.to_json() for one in changes for change in _terms(one)],
        } | simulation_json(tally)

    def _seen(self, session: Session, changes: Sequence[Proposed], until_s: float, record: Record) -> tuple[Tally, int]:
        simulator, tally = Simulator(changes), Tally()
        windows = fleet.windows_a_report(session, [change.app for change in changes])
        known: dict[Hashable, Outlook] = {}
        noted_s = -math.inf
        for report in fleet.stored_reports(session):
            now_s = self._timer_s()
            if now_s > until_s:
                break
            if now_s - noted_s >= NOTED_EVERY_S:
                record.note(tally.seen.reports)
                noted_s = now_s
            key = report.key(builds=simulator.reads_builds)
            outlook = known.get(key)
            if outlook is None:
                outlook = known[key] = simulator.outlook(report.fingerprint())
            tally.add(outlook, windows.get(report.device_class, 0.0))
        return tally, simulator.decided


def _row(ready: _Ready) -> SimulationRunRow:
    asked = ready.asked
    return SimulationRunRow(
        state=RUNNING,
        kind=asked.draft.kind,
        app=None if asked.draft.kind == Kind.RECOMMENDATION else asked.draft.content.get("app"),
        revision=asked.revision,
        asked_by=asked.by,
        started_at=clock.now(),
        reports_done=0,
        reports_total=ready.total,
    )


def _terms(change: Proposed) -> Iterator[Any]:
    """What every phone of the app is told anew, whatever arms it gets."""
    old, new = (
        basis.document.model_dump(mode="json", include=set(_TERMS)) if basis.document else None for basis in change.both
    )
    if old is not None:
        yield from difference(old, new, f"/{change.app}")
