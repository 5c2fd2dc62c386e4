"""The client: report, store, transport, ladder and telemetry, tied together for one app on one phone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from nnfleet_client.assign import normalise_unit_id
from nnfleet_client.buffer import Buffer
from nnfleet_client.clock import Clock, SystemClock
from nnfleet_client.decisions import DecisionFetcher, Refresh
from nnfleet_client.histogram import Histogram
from nnfleet_client.ladder import Ending, Step, walk
from nnfleet_client.observations import ObservationWriter, Origin
from nnfleet_client.plan import Defaults, Plan, check_defaults, choose, default_plan
from nnfleet_client.report import report_id
from nnfleet_client.room import Room
from nnfleet_client.runner import Runner
from nnfleet_client.seal import Seal
from nnfleet_client.situations import Circumstances, Thermal, thermal_from
from nnfleet_client.spool import Spool
from nnfleet_client.store import DecisionStore, Reason
from nnfleet_client.suspects import Suspects
from nnfleet_client.telemetry import Flushed, TelemetrySender
from nnfleet_client.transport import Transport
from nnfleet_client.version import SDK
from nnfleet_client.witness import Conditions, Notebook, UseWitness

DEFAULT_FLUSH_S: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What most apps leave as it is.

    `folder`: where the last good document, unsent observations and unfinished starts survive a restart; None keeps
    all three in memory. One folder belongs to one app on one phone, and serves one client at a time: another one, in this
    process or another, has a room of its own in it. `buffer_records`, `buffer_bytes`: bounds of
    the unsent observations. `trusted_keys`: key id → 32-byte Ed25519 public key; with any, a document without a
    good signature is refused, without any, signatures are not looked at. `ended_from_outside`: the system says that the
    process before this one was ended by its user, for its memory or by an update: then its unfinished starts are no crashes.
    """

    folder: Path | None = None
    app_version: str | None = None
    buffer_records: int = 10_000
    buffer_bytes: int = 4 * 1024 * 1024
    trusted_keys: Mapping[str, bytes] = field(default_factory=dict)
    ended_from_outside: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a use of a model came to.

    `arm_id` is the arm that served, None where even the bundled default's last rung failed. `steps` tells the
    whole walk, rungs passed over included.
    """

    plan: Plan
    arm_id: str | None
    steps: tuple[Step, ...]

    @property
    def reason(self) -> Reason:
        """Where the plan came from."""
        return self.plan.reason

    @property
    def error_code(self) -> str | None:
        """`ladder-exhausted` where no arm served, else the plan's own code."""
        return "ladder-exhausted" if self.arm_id is None else self.plan.error_code

    @property
    def latency(self) -> Histogram:
        """Latencies of all runs that worked, whichever arm made them."""
        merged = Histogram()
        for step in self.steps:
            merged = merged if step.window is None else merged.merge(step.window.histogram)
        return merged


class FleetClient:
    """Asks once, walks the ladder, reports what really ran.

    `decision` and `use` never touch the network: they answer from the last good document, else from the bundled
    default, and say which. `refresh` and `flush` do, when the app (or a `Poller`) calls them; neither raises for
    anything a network or a server does. No thread is started.

    `report` is the probe's report in the exact bytes to upload. `default` maps every model to its arms in ladder
    order, as in a decision document's `arms`; the last must always work (CPU). `server` is a URL, or a Transport
    shared by many clients. `unit_id` is the random id kept on this device; it never leaves it.

    Raises InvalidUnitIdError and InvalidDefaultError.
    """

    def __init__(
        self,
        *,
        app: str,
        report: bytes,
        default: Defaults,
        server: str | Transport,
        unit_id: str | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        settings: Settings | None = None,
    ) -> None:
        settings = settings or Settings()
        self._clock = clock or SystemClock()
        self._rng = rng or random.Random()
        transport = Transport(server) if isinstance(server, str) else server
        self._owned = transport if isinstance(server, str) else None
        self._default = check_defaults(default)
        self._unit_id = None if unit_id is None else normalise_unit_id(unit_id)
        self.report_id = report_id(report)
        self._room = Room(settings.folder)
        self._store = DecisionStore(app, self.report_id, self._room.folder)
        seal = Seal(self.report_id, settings.trusted_keys)
        self._fetcher = DecisionFetcher(
            app, self.report_id, report, self._store, seal, transport, self._clock, self._rng
        )
        self._buffer = Buffer(Spool(self._room.folder), settings.buffer_records, settings.buffer_bytes)
        self._sender = TelemetrySender(self._buffer, transport, self._clock, self._rng, self._fetcher.upload_report)
        origin = Origin(self.report_id, app, SDK, settings.app_version)
        writer = ObservationWriter(origin, self._clock, self._rng)
        suspects = Suspects(self.report_id, self._room.folder, settings.ended_from_outside)
        if suspects.forgiven:
            self._buffer.remove(suspects.forgiven)
        self._notebook = Notebook(writer, self._buffer, suspects, self._clock)

    @property
    def advice(self) -> Sequence[Any]:
        """What the server wants the app to show (a driver switched off, say); empty without a usable document."""
        document = self._store.standing(self._clock.now_s()).document
        return () if document is None else document.advice

    @property
    def probe(self) -> Sequence[Any]:
        """What the server would like another probe to find out (`runtimes.neuron`); to do so is optional."""
        document = self._store.standing(self._clock.now_s()).document
        return () if document is None else document.probe

    @property
    def flush_s(self) -> float:
        """Seconds between two flushes that the document asks for; an hour without one."""
        document = self._store.standing(self._clock.now_s()).document
        return DEFAULT_FLUSH_S if document is None else document.flush_s

    @property
    def dropped(self) -> Mapping[str, int]:
        """Observations given up since the start, by why: `window` and `attempt` (buffer full), `too_big`, `refused`."""
        return dict(self._buffer.dropped)

    @property
    def waiting(self) -> int:
        """Observations not yet acknowledged."""
        return len(self._buffer)

    def refresh(self, force: bool = False) -> Refresh:
        """Fetch the decision if it is time to; see DecisionFetcher.refresh. Safe to call as often as one likes."""
        return self._fetcher.refresh(force)

    def flush(self) -> Flushed:
        """Send waiting observations if it is allowed; see TelemetrySender.flush."""
        return self._sender.flush()

    def decision(
        self,
        model: str,
        *,
        workload: str | None = None,
        thermal: Thermal | int | str | None = None,
        battery_saver: bool | None = None,
    ) -> Plan:
        """The plan for a model now, from memory.

        Within max-age of the last 200 or 304 its reason is `fresh` or `not_modified`; later, and through any
        outage, `stale`; past the document's expiry, or with an empty cache, `default`. `error_code` holds the last
        refresh's failure, if it failed. Raises UnknownModelError for a model that neither document nor default knows.
        """
        return self._choose(model, Circumstances(workload, thermal_from(thermal), battery_saver))

    def use(
        self,
        model: str,
        runner: Runner,
        runs: int,
        *,
        workload: str | None = None,
        thermal: Thermal | int | str | None = None,
        battery_saver: bool | None = None,
        conditions: Conditions | None = None,
    ) -> Outcome:
        """Walk the plan's ladder, make the runs, buffer a window for every arm that was tried.

        A ladder that fails to its last rung is followed by the bundled default's. `conditions` is asked before and
        after every arm (`thermal_status`, `battery_c`, `charging`, …). Raises UnknownModelError; lets through what
        the runner raises beside ArmFailed and RunTimeout, and then leaves the attempt's mark to be sent. Only a
        use that is called off from outside (KeyboardInterrupt) leaves none: nothing is held against its arm.
        """
        now = Circumstances(workload, thermal_from(thermal), battery_saver)
        plan = self._choose(model, now)
        sampled = self._rng.random() < self._sample()
        steps: tuple[Step, ...] = ()
        for candidate in self._and_default(plan):
            witness = UseWitness(self._notebook, candidate, now, conditions, sampled)
            try:
                steps += walk(candidate, runner, runs - _runs_made(steps), witness)
            except KeyboardInterrupt:
                witness.withdraw()
                raise
            finally:
                witness.let_go()
            if steps[-1].ending is Ending.RAN:
                return Outcome(candidate, steps[-1].arm_id, steps)
        return Outcome(plan, None, steps)

    def close(self) -> None:
        """Close the connections this client opened, and leave its folder to the next one. Sends nothing.

        A shared Transport stays open. The client is not to be used again.
        """
        self._room.close()
        if self._owned is not None:
            self._owned.close()

    def _choose(self, model: str, now: Circumstances) -> Plan:
        standing = self._store.standing(self._clock.now_s())
        plan = choose(standing, self._default, model, now, self._unit_id)
        error_code = self._fetcher.last_error or plan.error_code
        return replace(plan, error_code=error_code)

    def _and_default(self, plan: Plan) -> Iterator[Plan]:
        yield plan
        if plan.reason is not Reason.DEFAULT and plan.model in self._default:
            yield default_plan(self._default, plan.model, "ladder-exhausted")

    def _sample(self) -> float:
        document = self._store.standing(self._clock.now_s()).document
        return 1.0 if document is None else document.telemetry_sample


def _runs_made(steps: Sequence[Step]) -> int:
    return sum(step.window.count for step in steps if step.window is not None)
