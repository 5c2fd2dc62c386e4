"""One round: every phone asks, uses its models, reports. And what the fleet truly got from it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from ml.fleet import Fleet, Phone
from ml.fleet.assumptions import HOT_AFTER_MINUTES, SESSION_MINUTES
from nnfleet_client import FleetClient, Outcome, ProcessDied, Settings, Transport
from policies.rollouts.staging import parted
from service.cli.demo.runner import PhoneRunner

THREADS: Final = 8
RUNS_A_WINDOW: Final = 12
SUSTAINED_SHARE: Final = 0.3
"""Share of uses that are sustained work. Assumed."""
CHECKING_EVERY: Final = 10
"""One phone in so many checks signatures: in plain Python each check takes some milliseconds of this machine."""
MAX_DEATHS: Final = 4
"""Restarts of one app in one use before its user gives up. Assumed."""
NOTHING_RIGHT: Final = 10.0
"""Regret counted for a use that no acceptable arm served."""


MakesRunner = Callable[[Phone, str, float, np.random.Generator], PhoneRunner]
"""(phone, app, minute of the session, generator) → what runs its models."""


@dataclass(frozen=True)
class Use:
    """One use of one model: `regret` of the arm that served at its end against the best acceptable one, 1 is best."""

    regret: float
    latency_ms: float
    target_ms: float
    explored: bool
    crashes: int


@dataclass(frozen=True)
class RoundFigures:
    """What a round came to, exploring phones included. Shares are of uses."""

    round: int
    release: int
    mean_regret: float
    p95_regret: float
    within_1_1: float
    target_met: float
    uses: int
    explored: float
    crashes: int

    def to_json(self) -> dict[str, Any]:
        """Plain values, rounded to what the sample size carries."""
        return {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(self).items()}


class Handset:
    """A phone with its SDK clients, one an installed app. Lives as long as the demo, as an installed app does."""

    def __init__(
        self, phone: Phone, fleet: Fleet, transport: Transport, targets: dict[tuple[str, str], float], seed: int,
        runner: MakesRunner, sdk: Settings,
    ) -> None:  # fmt: skip
        self._phone = phone
        self._fleet = fleet
        self._targets = targets
        self._runner = runner
        self._rng = np.random.default_rng(seed)
        self._clients = {
            app: FleetClient(
                app=app, report=phone.report, default=_bundled(phone, fleet, app), server=transport, unit_id=phone.unit_id,
                rng=random.Random(f"{seed}:{app}"), settings=sdk,
            )
            for app in phone.apps
        }  # fmt: skip

    def live_a_round(self) -> list[Use]:
        """Ask, use every model once, report."""
        for client in self._clients.values():
            client.refresh(force=True)
        uses = [self._use(app, model) for app, model in self._phone.models_in_use]
        for client in self._clients.values():
            client.flush()
        return uses

    def _use(self, app: str, model: str) -> Use:
        workload = "sustained" if self._rng.random() < SUSTAINED_SHARE else "burst"
        crashes = 0
        for session_minute in self._looks(workload):
            runner = self._runner(self._phone, app, session_minute, self._rng)
            outcome, died = self._walk(app, model, workload, runner)
            crashes += died
        best_ms = self._fleet.best(self._phone, app, model, workload)[1]
        arm = parted(outcome.arm_id)[0] if outcome and outcome.arm_id else None
        got_ms = self._fleet.true_latency_ms(self._phone, app, model, arm, workload) if arm else None
        latency_ms = got_ms if got_ms is not None else NOTHING_RIGHT * best_ms
        explored = outcome.plan.explore if outcome else False
        return Use(latency_ms / best_ms, latency_ms, self._targets[app, model], explored, crashes)

    def _looks(self, workload: str) -> tuple[float, ...]:
        """Minutes of a session at which the app makes a window: sustained work is looked at before it is hot and after."""
        if workload == "burst":
            return (0.0,)
        early, late = self._rng.random(2)
        return early * HOT_AFTER_MINUTES, HOT_AFTER_MINUTES + late * (SESSION_MINUTES - HOT_AFTER_MINUTES)

    def _walk(self, app: str, model: str, workload: str, runner: PhoneRunner) -> tuple[Outcome | None, int]:
        """Use the model; where the driver kills the process the app is started again and goes one rung down."""
        for deaths in range(MAX_DEATHS):
            try:
                client = self._clients[app]
                return client.use(model, runner, RUNS_A_WINDOW, workload=workload, conditions=runner.conditions), deaths
            except ProcessDied:
                continue
        return None, MAX_DEATHS


def _bundled(phone: Phone, fleet: Fleet, app: str) -> dict[str, dict[str, dict[str, str]]]:
    """What the app ships for a phone without any document: a CPU arm of each model, any arm where there is none."""
    default = {}
    for model in (model for own, model in phone.models_in_use if own == app):
        arms = fleet.arms(phone, app, model)
        arm = next((arm for arm in arms if arm.endswith(".cpu")), arms[0])
        default[model] = {arm: {"delegate": arm.split(".")[2]}}
    return default


def handsets(
    fleet: Fleet, transport: Transport, seed: int, trusted_keys: Mapping[str, bytes], runner: MakesRunner = PhoneRunner
) -> list[Handset]:
    """All phones of the fleet, switched on."""
    targets = {(spec["app"], spec["name"]): float(spec["latency_target_ms"]) for spec in fleet.models}
    checking, trusting = Settings(trusted_keys=trusted_keys), Settings()
    return [
        Handset(
            phone, fleet, transport, targets, seed * 1_000_003 + number, runner,
            trusting if number % CHECKING_EVERY else checking,
        )
        for number, phone in enumerate(fleet.phones)
    ]  # fmt: skip


def run_round(phones: Sequence[Handset], advance: Callable[[], None]) -> list[Use]:
    """Every phone lives a round, several at a time; `advance` is called after each."""
    return list(_uses(phones, advance))


def _uses(phones: Sequence[Handset], advance: Callable[[], None]) -> Iterator[Use]:
    with ThreadPoolExecutor(THREADS) as pool:
        for uses in pool.map(Handset.live_a_round, phones):
            advance()
            yield from uses


def figures(number: int, release: int, uses: Sequence[Use]) -> RoundFigures:
    """The round in numbers."""
    regret = np.array([use.regret for use in uses])
    met = [use.latency_ms <= use.target_ms for use in uses]
    return RoundFigures(
        round=number,
        release=release,
        mean_regret=float(regret.mean()),
        p95_regret=float(np.quantile(regret, 0.95)),
        within_1_1=float((regret <= 1.1).mean()),
        target_met=float(np.mean(met)),
        uses=len(uses),
        explored=float(np.mean([use.explored for use in uses])),
        crashes=sum(use.crashes for use in uses),
    )
