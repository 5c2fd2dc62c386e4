"""The play itself: stage, rounds, learning, verdict. Nothing here prints; a `Watcher` is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import httpx
from sqlalchemy import Engine
from sqlmodel import Session

from ml.explore import Budget
from ml.findings import Finding
from ml.fleet import Fleet
from ml.limits import Limits
from service import clock
from service.cli.demo import verdict
from service.cli.demo.exploring import WHERE_IT_PAYS, Exploring
from service.cli.demo.lab import soak
from service.cli.demo.ledger import Ledger, NotingTransport
from service.cli.demo.rounds import RoundFigures, figures, handsets, run_round
from service.cli.demo.stage import Operator
from service.jobs.recommend import learn, look
from service.store.tables import RoundRow

LIMITS: Final = Limits(min_golden_failures=1, min_errors=2)
"""A simulated fleet is small: one failed golden check, or two failed starts, put an arm out."""
EXPLORING: Final = Budget(mean_bp=800, trickle_bp=50)
SETTLED: Final = Budget(mean_bp=200, trickle_bp=50)
"""Before its last round the fleet explores less: what it learned is to be used."""


class Watcher(Protocol):
    """Who wants to know how it goes."""

    def stage(self, text: str) -> None:
        """Something that takes a while has begun."""

    def round_begins(self, number: int, phones: int) -> Callable[[], None]:
        """A round has begun; the answer is called after each phone."""

    def round_ended(self, row: RoundFigures) -> None:
        """A round is over."""


@dataclass(frozen=True)
class Scene:
    """Everything a play needs: the server's address, token and public keys, the database, the fleet."""

    server: str
    token: str
    engine: Engine
    fleet: Fleet
    rounds: int
    seed: int
    trusted_keys: Mapping[str, bytes]
    exploring: Exploring = WHERE_IT_PAYS


@dataclass(frozen=True)
class Play:
    """A play that is over: the verdict, and what the detectors said at its end."""

    verdict: verdict.Verdict
    findings: tuple[Finding, ...]


def play(scene: Scene, watcher: Watcher) -> Play:
    """Play all rounds and judge them. Raises httpx.HTTPError where the server does not answer."""
    ledger = Ledger()
    limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
    with httpx.Client(timeout=30, limits=limits) as http:
        operator = Operator(http, scene.server, scene.token)
        watcher.stage(f"registering {len(scene.fleet.models)} models")
        operator.register(scene.fleet.models, exploration_bp=scene.exploring.first_bp)
        transport = NotingTransport(scene.server, http, ledger)
        phones = handsets(scene.fleet, transport, scene.seed, scene.trusted_keys)
        rows: list[RoundFigures] = []
        for number in range(scene.rounds):
            note = "out of the box: nothing measured yet" if number == 0 else f"learned from round {number - 1}"
            release = operator.publish(note)
            uses = run_round(phones, watcher.round_begins(number, len(phones)))
            rows.append(figures(number, release, uses))
            _note_round(scene.engine, rows[-1])
            watcher.round_ended(rows[-1])
            if number < scene.rounds - 1:
                watcher.stage("rolling up and learning")
                now = clock.now()
                budget = EXPLORING if number < scene.rounds - 2 else SETTLED
                run = learn(scene.engine, now, now, budget, LIMITS, scene.exploring.split)
                if run.soaks:
                    watcher.stage(f"the lab soaks {soak(scene.fleet, run.soaks, transport, scene.seed)} arms")
    watcher.stage("looking for faults, counting records")
    findings = look(scene.engine, clock.now(), clock.now())
    judged = verdict.Verdict(
        tuple(rows),
        ledger.lookups,
        ledger.lookup_quantile_ms(0.5),
        ledger.lookup_quantile_ms(0.99),
        len(ledger.acknowledged),
        verdict.lost(scene.engine, ledger.acknowledged),
        verdict.judged(scene.fleet.faults, findings),
    )
    return Play(judged, findings)


def _note_round(engine: Engine, row: RoundFigures) -> None:
    with Session(engine) as session, session.begin():
        session.add(RoundRow(release=row.release, figures=row.to_json(), noted_at=clock.now()))
