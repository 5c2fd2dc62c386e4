"""What pages of the console cost with a large fleet: `python -m tests.bench.console [--classes 100000] [--rounds 5]`.

PostgreSQL makes the fleet up itself: classes that differ in model, SoC, API level and drivers, a report each, ten million
observations, rolled up and tallied, which is all that these pages read of them, as many acts in the audit log as classes, a
finding for each SoC, and a learning run. The service answers in this process, without a web
server. Counted are the CPU of this process and of PostgreSQL together, the time a reader waits, and queries. The baseline
is a bare Flask view that sends the fleet page's bytes. CPU is judged: on a shared machine a wait is mostly for others.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import psutil
from flask import Flask
from flask.testing import FlaskClient
from psycopg.types.json import Jsonb
from sqlalchemy import Connection, Engine, text
from sqlmodel import Session

from policies import catalog
from policies.fingerprint import Fingerprint, fingerprint
from policies.report import parse_report
from service import clock
from service.app import create_app
from service.console.paging import PREFIX
from service.console.visitor import COOKIE
from service.context import Services
from service.identity import people
from service.identity.actor import COMMAND_LINE, Role
from service.identity.people import NewPerson
from service.releasing.release_content import pack_rankings
from service.releasing.releases import load
from service.settings import Settings
from service.store import arm_tallies, findings, releases, rollups, schema
from service.store.engine import make_engine
from service.store.tables import metadata
from tests.bench.bare import make_application
from tests.bench.goals import at_most
from tests.bench.stage import APP, RULES, TOKEN, TOUR, installation, machine, policy
from tests.queries import counted_queries

GOAL_MS: Final = 200
OBSERVATIONS: Final = 10_000_000
MODELS: Final = 20
"""Models that the learning run ranks on every driver stack."""
KINDS: Final = 600
"""Phones that differ in more than their name."""
BEFORE_FACTS: Final = "0007_set_aside"
"""The schema before classes had facts in columns: the migration after it fills them, faster than one report at a time."""
BARE_PATH: Final = f"/v1/decisions/{APP}/x"

_CLASSES: Final = text(
    """
    INSERT INTO device_class (device_class, fingerprint, learnable, first_seen)
    SELECT left(md5(n::text), 16), facts || jsonb_build_object('device_class', left(md5(n::text), 16), 'model', 'Phone ' || n),
           true, now() - n * interval '1 minute'
    FROM generate_series(0, :classes - 1) AS n JOIN kind ON kind.number = n % :kinds
    """
)
_REPORTS: Final = text(
    """
    INSERT INTO report (report_id, device_class, body, received_at)
    SELECT encode(sha256(n::text::bytea), 'hex'), left(md5(n::text), 16), convert_to(body, 'UTF8'), now()
    FROM generate_series(0, :classes - 1) AS n JOIN kind ON kind.number = n % :kinds
    """
)
_TALLIES: Final = text(
    """
    INSERT INTO telemetry_tally (day, verdict, reason, records)
    SELECT current_date - day, verdict, reason, :observations / 90 * share / 100
    FROM generate_series(0, 89) AS day,
         (VALUES ('accepted', '', 95), ('set-aside', 'emulator', 3), ('set-aside', 'implausible-latency', 2))
             AS verdicts (verdict, reason, share)
    """
)

_DAYS: Final = 90
_ARMS: Final = ("int8.tflite.cpu", "int8.tflite.nnapi.mtk-neuron", "fp32.tflite.gpu")
_FILLED: Final = MappingProxyType(
    {
        "day": "current_date - (n % :days)::int",
        "device_class": "left(md5((n % :classes)::text), 16)",
        "app": ":app",
        "model": "'segmentation'",
        "arm": "(CAST(:arms AS text[]))[n % 3 + 1]",
        "workload": "'burst'",
        "heat": "'cool'",
        "windows": ":each",
        "measured": ":each",
        "runs": ":each * 10",
        "latency_buckets": "ARRAY[400]",
        "latency_counts": "ARRAY[:each * 10]",
        "p50_buckets": "ARRAY[400]",
        "p50_counts": "ARRAY[:each]",
        "delegated_windows": ":each",
        "delegated_share_sum": ":each * 0.9",
    }
)
"""What a rollup says here; every other column of it is 0."""
_COLUMNS: Final = [column.name for column in metadata.tables["observation_rollup"].columns]
_ROLLUPS: Final = text(
    f"""
    INSERT INTO observation_rollup ({", ".join(_COLUMNS)})
    SELECT {", ".join(_FILLED.get(name, "0") for name in _COLUMNS)}
    FROM generate_series(0, :cells - 1) AS n ON CONFLICT DO NOTHING
    """
)
_ROLLED: Final = text(
    """
    INSERT INTO rolled_day (day, rolled_at, observations, settled)
    SELECT current_date - n, now(), 1, true FROM generate_series(0, :days - 1) AS n
    """
)
_ACTS: Final = text(
    """
    INSERT INTO audit (number, at, actor, action, subject, detail, previous_sha256, sha256)
    SELECT n, now() - n * interval '1 minute', 'person-' || n % 50, 'release-published', 'release:' || n,
           '{"note":"act number ' || n || ' of many","revisions":[1,2,3,4,5,6,7,8]}', md5(n::text), md5(n::text)
    FROM generate_series(1, :acts) AS n
    """
)
CELLS: Final = 500_000
"""Cells of rollups that the observations lie in: a class, an arm and a day each."""


def kinds() -> Iterator[tuple[str, dict[str, Any]]]:
    """(report, fingerprint) of phones that differ in SoC, API level and drivers."""
    report = json.loads((TOUR / "report.json").read_text("utf-8"))
    chips, drivers = sorted(catalog.socs().entries), sorted(catalog.accelerators().entries)
    for number in range(KINDS):
        device = {"soc_model": chips[number % len(chips)], "api_level": 27 + number % 10, "model": "Phone"}
        devices = [{"name": drivers[number // 7 % len(drivers)], "type": "accelerator"}] if number % 5 else []
        body = report | {
            "device": report["device"] | device,
            "nnapi": report["nnapi"] | {"devices": [*report["nnapi"]["devices"], *devices]},
        }
        encoded = json.dumps(body)
        yield encoded, fingerprint(parse_report(encoded.encode())).model_dump(mode="json")


def fill(engine: Engine, classes: int) -> None:
    """Fill an empty database with a fleet."""
    schema.downgrade(engine, BEFORE_FACTS)
    with engine.begin() as connection:
        _make_kinds(connection)
        numbers = {"classes": classes, "kinds": KINDS}
        connection.execute(_CLASSES, numbers)
        connection.execute(_REPORTS, numbers)
        connection.execute(_TALLIES, {"observations": OBSERVATIONS})
    schema.upgrade(engine)
    _measure_and_act(engine, classes)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def _measure_and_act(engine: Engine, classes: int) -> None:
    """Rollups and what follows from them, acts, findings and a learning run."""
    numbers = {"classes": classes, "days": _DAYS, "app": APP, "arms": list(_ARMS), "cells": CELLS}
    stacks = {Fingerprint.model_validate(facts).driver_stack for _, facts in kinds()}
    with Session(engine) as session, session.begin():
        connection = session.connection()
        connection.execute(_ROLLUPS, numbers | {"each": OBSERVATIONS // CELLS})
        connection.execute(_ROLLED, {"days": _DAYS})
        connection.execute(_ACTS, {"acts": classes})
        rollups.refresh_cohorts(session)
        arm_tallies.refresh(session)
        told = [_finding(soc) for soc in sorted(catalog.socs().entries)]
        figures = {"findings": told, "rankings": len(stacks) * MODELS, "stacks": len(stacks)}
        run = releases.add_recommendation(session, pack_rankings(_learned(stacks)), figures, clock.now())
        findings.note(session, told, clock.now(), run)


def _finding(soc: str) -> dict[str, Any]:
    return {
        "name": "crash", "soc": soc, "arms": ["*.*.nnapi.mtk-neuron"], "p_value": 1e-9, "windows": 99, "detail": "made up",
        "evidence": [], "quarantine": {},
    }  # fmt: skip


def _learned(stacks: Iterable[str]) -> dict[str, Any]:
    """Rankings of twenty models on every driver stack."""
    ranked = {"ranked": [[arm, 5.0 + at, 0.2, 40] for at, arm in enumerate(_ARMS)], "shares": [], "excluded": {}}
    by_workload = dict.fromkeys(("burst", "sustained"), ranked)
    return {stack: {APP: {f"model-{n}": by_workload for n in range(MODELS)}} for stack in stacks}


def _make_kinds(connection: Connection) -> None:
    connection.execute(
        text("CREATE TEMPORARY TABLE kind (number int PRIMARY KEY, body text, facts jsonb) ON COMMIT DROP")
    )
    rows = [{"number": n, "body": body, "facts": Jsonb(facts)} for n, (body, facts) in enumerate(kinds())]
    connection.execute(text("INSERT INTO kind VALUES (:number, :body, :facts)"), rows)


def publish(client: FlaskClient) -> None:
    """A model, a policy and a release."""
    for method, path, body in (
        ("PUT", f"/v1/models/{APP}/segmentation", (TOUR / "model.json").read_bytes()),
        ("PUT", f"/v1/policies/{APP}", json.dumps(policy(RULES)).encode()),
        ("POST", "/v1/releases", b'{"note": "bench"}'),
    ):
        answer = client.open(path, method=method, data=body, headers={"Authorization": f"Bearer {TOKEN}"})
        if not answer.status_code < 300:
            raise RuntimeError(answer.text)


def pages(classes: int) -> dict[str, str]:
    """What is measured → its address."""
    with_drivers = "accelerator=mtk-neuron&api=31"
    return {
        "Fleet": "/console/",
        "Device classes": "/console/classes",
        "– a page in the middle": f"/console/classes?page={classes // 50}",
        "– the last page": f"/console/classes?page={classes}",
        "– two filters": f"/console/classes?{with_drivers}",
        "– filters, search, order": f"/console/classes?{with_drivers}&q=google+phone&sort=-soc",
        "– search": "/console/classes?q=phone+9",
        "– search, nothing found": "/console/classes?q=nothing+like+it&sort=model",
        "One class": "/console/classes/cfcd208495d565ef",
        "Models": "/console/models",
        "One model": f"/console/models/{APP}/segmentation",
        "Files": "/console/files",
        "Plain flags": "/console/flags",
        "Findings": "/console/findings",
        "One finding": f"/console/findings/{findings.finding_id(_finding('sm8650'))}",
        "Learning runs": "/console/recommendations",
        "One learning run": "/console/recommendations/1",
        "Quarantines": "/console/quarantines",
        "Revisions": "/console/revisions",
        "Rollouts": "/console/rollouts",
        "Releases": "/console/releases",
        "Telemetry": "/console/telemetry?days=90",
        "Jobs": "/console/jobs",
        "Audit": "/console/audit",
        "– search of acts": "/console/audit?q=person-7+published",
        "– search of acts, nothing": "/console/audit?q=nothing+like+it",
        "Explain": "/console/explain?class=cfcd208495d565ef&unit=bench",
    }


@dataclass(frozen=True)
class Meter:
    """CPU of this process and of PostgreSQL."""

    postmaster: psutil.Process

    @classmethod
    def of(cls, engine: Engine) -> Meter:
        """The meter of the server behind the engine, which has to be on this machine."""
        with engine.connect() as connection:
            backend = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        parent = psutil.Process(backend).parent()
        if parent is None:
            raise RuntimeError("the database's server is gone")
        return cls(parent)

    def cpu_s(self) -> float:
        """Seconds of CPU so far. Those of PostgreSQL's workers that have ended are its first process's children's."""
        first = self.postmaster.cpu_times()
        running = [process.cpu_times() for process in (self.postmaster, *self.postmaster.children())]
        theirs = sum(times.user + times.system for times in running) + first.children_user + first.children_system
        return time.process_time() + float(theirs)


@dataclass(frozen=True)
class Cost:
    """What one answer costs: CPU and the wait in ms, and its bytes."""

    cpu_ms: float
    wait_ms: float
    size_bytes: int


def cost(meter: Meter, client: FlaskClient, path: str, times: int) -> Cost:
    """The cost of an answer, over so many."""
    cpu_s, at, size = meter.cpu_s(), time.perf_counter(), 0
    for _ in range(times):
        answer = client.get(path)
        if answer.status_code != 200:
            raise RuntimeError(f"{path}: {answer.status}")
        size = len(answer.data)
    waited_s = time.perf_counter() - at
    return Cost((meter.cpu_s() - cpu_s) * 1e3 / times, waited_s * 1e3 / times, size)


def measure(say: Callable[[str], None], classes: int, times: int, rounds: int) -> None:
    """Run the benchmark and `say` its figures."""
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="nnfleet-bench-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(temporary))
        settings = stack.enter_context(installation(folder))
        engine = make_engine(settings)
        stack.callback(engine.dispose)
        started = time.perf_counter()
        fill(engine, classes)
        say(f"{classes:,} classes and as many reports, made in {time.perf_counter() - started:.0f} s")
        _measure(say, engine, _service(settings, engine), pages(classes), folder, times, rounds)


def _service(settings: Settings, engine: Engine) -> FlaskClient:
    app: Flask = create_app(settings, engine)
    client = app.test_client()
    publish(client)
    content = load(engine)
    if content is None:
        raise RuntimeError("nothing is published")
    services: Services = app.extensions["nnfleet"]
    services.lookup.swap(content)
    with Session(engine) as session, session.begin():
        people.create(session, NewPerson("reader", Role.VIEWER), COMMAND_LINE, clock.now())
    client.set_cookie(COOKIE, services.sessions.start("reader", "bench", clock.now()), path=PREFIX)
    return client


def _measure(
    say: Callable[[str], None],
    engine: Engine,
    client: FlaskClient,
    paths: dict[str, str],
    folder: Path,
    times: int,
    rounds: int,
) -> None:
    meter = Meter.of(engine)
    body = folder / "page"
    body.write_bytes(client.get("/console/").data)
    bare = make_application(str(body)).test_client()
    dearest_ms = 0.0
    for name, path in paths.items():
        with counted_queries(engine) as statements:
            cost(meter, client, path, 1)
        taken = [(cost(meter, bare, BARE_PATH, 20 * times), cost(meter, client, path, times)) for _ in range(rounds)]
        wait_ms = statistics.median(page.wait_ms for _, page in taken)
        cpu_ms = statistics.median(page.cpu_ms for _, page in taken)
        ratio = statistics.median(page.cpu_ms / plain.cpu_ms for plain, page in taken)
        dearest_ms = max(dearest_ms, cpu_ms)
        say(
            f"{name:26} {wait_ms:6.1f} ms, {cpu_ms:6.1f} ms CPU ({ratio:6.1f} × a bare page), "
            f"{len(statements)} queries, {taken[0][1].size_bytes / 1e3:.0f} kB"
        )
    say(f"the dearest page: {dearest_ms:.0f} ms CPU ({at_most(dearest_ms, GOAL_MS, 'ms')})")


def main() -> None:
    """The command line. A missed goal is printed, not an error: a shared machine is no judge."""
    parser = argparse.ArgumentParser(description="What pages of the console cost.")
    parser.add_argument("--classes", type=int, default=100_000, help="device classes of the fleet")
    parser.add_argument("--times", type=int, default=10, help="answers a page and round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each page")
    options = parser.parse_args()
    print(f"the service in one process, PostgreSQL beside it; {machine()}")
    measure(print, options.classes, options.times, options.rounds)


if __name__ == "__main__":
    main()
