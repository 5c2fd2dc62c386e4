"""Simulations: a draft on the whole stored fleet, within a time that the caller states, one at a time in a worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any, ClassVar, Final

from sqlalchemy import Engine
from sqlmodel import Session

from policies.difference import difference
from policies.simulating.basis import Proposed
from policies.simulating.simulation_json import simulation_json
from policies.simulating.simulator import Outlook, Simulator
from policies.simulating.tally import Tally
from service.intake.admission import TryLater
from service.releasing.release_content import ReleaseContent
from service.simulating import fleet
from service.simulating.drafts import Draft, proposed
from service.simulating.limits import BUDGET_S

_TERMS: Final = ("telemetry", "valid_s")


class SimulationRunning(TryLater):
    """This worker simulates something else."""

    code: ClassVar[str] = "simulation-running"


@dataclass(frozen=True, slots=True)
class Asked:
    """A draft, the release it is compared with, today, and how long that may take."""

    draft: Draft
    live: ReleaseContent
    now: datetime
    budget_s: float = BUDGET_S


class Simulations:
    """Runs them. Nothing is stored."""

    def __init__(self, engine: Engine, timer_s: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._timer_s = timer_s
        self._running = Lock()

    def run(self, asked: Asked) -> dict[str, Any]:
        """What would change, as JSON values; raises SimulationRunning, and InvalidField for what decides nothing.

        Where the time is over before the fleet is, `sampled` is true, and what was seen is an evenly drawn sample.
        """
        with self._alone(), Session(self._engine) as session:
            changes = proposed(session, asked.draft, asked.live, asked.now.date())
            total = fleet.count_reports(session)
            tally, decided = self._seen(session, changes, self._timer_s() + asked.budget_s)
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

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._running.acquire(blocking=False):
            raise SimulationRunning("this worker simulates another change", round(BUDGET_S))
        try:
            yield
        finally:
            self._running.release()

    def _seen(self, session: Session, changes: Sequence[Proposed], until_s: float) -> tuple[Tally, int]:
        simulator, tally = Simulator(changes), Tally()
        windows = fleet.windows_a_report(session, [change.app for change in changes])
        known: dict[Hashable, Outlook] = {}
        for report in fleet.stored_reports(session):
            if self._timer_s() > until_s:
                break
            key = report.key(builds=simulator.reads_builds)
            outlook = known.get(key)
            if outlook is None:
                outlook = known[key] = simulator.outlook(report.fingerprint())
            tally.add(outlook, windows.get(report.device_class, 0.0))
        return tally, simulator.decided


def _terms(change: Proposed) -> Iterator[Any]:
    """What every phone of the app is told anew, whatever arms it gets."""
    old, new = (
        basis.document.model_dump(mode="json", include=set(_TERMS)) if basis.document else None for basis in change.both
    )
    if old is not None:
        yield from difference(old, new, f"/{change.app}")
