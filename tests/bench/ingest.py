"""What telemetry costs: `python -m tests.bench.ingest [--batches 40] [--rounds 5] [--records 1000000]`.

Three ways of the same records into one PostgreSQL with its usual durability, in turn and several times: binary COPY into a
table without an index, as psycopg does it; the service's store; and the service over HTTP (gzipped batches of 500 from
four clients). Judged against the first: the machine is shared, ratios are what can be trusted. Then a million records over
HTTP, and what the server's memory does meanwhile.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import psutil
import psycopg
from psycopg.types.json import Jsonb
from sqlalchemy import Engine, text
from sqlmodel import Session

from policies.observation import decode_observation
from policies.screen import GAMMA
from service import clock
from service.intake.row import Record, flat_row, timing
from service.server import running_server
from service.settings import Settings
from service.store import schema, telemetry
from service.store.embedded import embedded_postgresql
from service.store.engine import make_engine
from tests.bench.goals import at_least, at_most
from tests.bench.load import Server, drive
from tests.bench.stage import machine, reports, send

BATCH: Final = 500
CLIENTS: Final = 4
REPORTS: Final = 200
WORKERS, THREADS = 2, 8
CHUNK: Final = 20
"""Batches between two looks at the memory."""
SETTLED: Final = 0.1
"""Part of the records after which memory is to stay as it is: by then all threads and connections have had their turn."""
GOAL_GROWTH_MIB: Final = 8
GOALS: Final = {"store": 0.85, "http": 0.5, "http per CPU": 0.3}
RAW: Final = "raw_observation"
TYPES: Final = """
    SELECT format_type(atttypid, NULL) FROM pg_attribute
    WHERE attrelid = %(table)s::regclass AND attnum > 0 ORDER BY attnum
"""
Rows = list[dict[str, Any]]


def uuid7() -> str:
    """A record id as clients make it."""
    number = int(time.time() * 1000) << 80 | uuid.uuid4().int & (1 << 80) - 1
    return str(uuid.UUID(int=number & ~(0xF << 76) | 0x7 << 76))


def window(number: int, report_id: str) -> bytes:
    """A window of thirty runs; no two are alike."""
    counts = {str(bucket): 6 for bucket in range(400 + number % 40, 405 + number % 40)}
    low, high = (GAMMA ** (int(bucket) - 0.5) for bucket in (min(counts), max(counts)))
    latency = {"min": int(low), "max": int(high), "sum": int(15 * (low + high))}
    return json.dumps(
        {
            "record_id": uuid7(), "report_id": report_id, "app": "camera", "release": 0, "model": "segmentation",
            "plan": "main", "arm": f"int8.tflite.nnapi.driver-{number % 20}", "propensity": 0.98, "workload": "burst",
            "kind": "window", "requested": {"delegate": "nnapi", "accelerator": "google-edgetpu"},
            "executed": {"by": "nnapi:google-edgetpu", "delegated_nodes": 64, "total_nodes": 64, "partitions": 1},
            "init": {"load_us": 900, "compile_us": 45_100, "cache_hit": False, "first_run_us": 6100},
            "runs": {"count": 30, "latency_us": latency | {"histogram": {"gamma": GAMMA, "counts": counts}}},
            "conditions": {"before": {"thermal_status": 0, "battery_c": 31.5}, "after": {"thermal_status": 0}},
            "golden": {"checks": 2, "passed": 2, "max_rel_error": 0.004}, "memory_peak_kb": 61_000,
            "device_time": "2026-05-01T10:00:00Z", "monotonic_ms": number, "sdk": "python/1.0.0", "app_version": "5.2.1",
        },
        separators=(",", ":"),
    ).encode()  # fmt: skip


def rows_of(batch: Sequence[bytes]) -> Rows:
    """A batch as rows, as the service makes them."""
    found = []
    for index, raw in enumerate(batch):
        observation = decode_observation(raw)
        record = Record(index, observation.record_id.bytes, observation, raw, b"%032d" % index)
        found.append(flat_row(record, "0" * 16, None, timing(observation), clock.now()))
    return found


def request(batch: Sequence[bytes]) -> bytes:
    """The request of a client."""
    body = gzip.compress(b"\n".join(batch), 6)
    head = "POST /v1/telemetry HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
    return f"{head}Content-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@dataclass
class Rates:
    """Records a second, and records a CPU-second of everything but the clients, round by round."""

    a_second: list[float] = field(default_factory=list)
    a_cpu_second: list[float] = field(default_factory=list)

    def ratio(self, other: Self, what: str) -> float:
        """The median of the rounds' ratios to another's."""
        pairs = zip(getattr(self, what), getattr(other, what), strict=True)
        return statistics.median(ours / theirs for ours, theirs in pairs)


@dataclass(frozen=True)
class Bench:
    """A server on a database, and the processes of both."""

    engine: Engine
    server: Server
    workers: tuple[psutil.Process, ...]
    postmaster: psutil.Process
    report_ids: tuple[str, ...]
    raw: psycopg.Connection[Any]
    types: Sequence[str]

    @classmethod
    def set_up(cls, stack: ExitStack, folder: Path) -> Self:
        """Start everything; `stack` ends it."""
        url = stack.enter_context(embedded_postgresql(folder / "postgresql"))
        settings = Settings(url, manage_token="bench", log_level="error", report_records_a_minute=0)
        engine = make_engine(settings)
        stack.callback(engine.dispose)
        schema.upgrade(engine)
        with engine.begin() as connection:
            connection.execute(text(f"CREATE TABLE {RAW} (LIKE observation)"))
        before = {child.pid for child in psutil.Process().children(recursive=True)}
        address = stack.enter_context(running_server(settings, workers=WORKERS, threads=THREADS))
        bodies = reports(REPORTS)
        for report_id, body in bodies.items():
            send(address, "PUT", f"/v1/reports/{report_id}", body)
        workers = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
        postmaster = psutil.Process(int((folder / "postgresql" / "postmaster.pid").read_text().splitlines()[0]))
        port = int(address.rpartition(":")[2])
        # Open all along: the CPU of a connection that has ended is hard to find again.
        raw = stack.enter_context(psycopg.connect(url))
        types = [name for (name,) in raw.execute(TYPES, {"table": RAW})]
        return cls(engine, Server(port), tuple(workers), postmaster, tuple(bodies), raw, types)

    def round(self, batches: int, rates: dict[str, Rates]) -> None:
        """Fresh records, each stored in all three ways, into empty tables."""
        made = self._made(batches)
        rows, requests = [rows_of(batch) for batch in made], [request(batch) for batch in made]
        ways: dict[str, Callable[[], None]] = {
            "store": lambda: self._store(rows),
            "http": lambda: drive(self.server, requests, batches, CLIENTS, 200),
            "raw COPY": lambda: self._raw(plain),
        }
        plain: list[list[Sequence[Any]]] = []
        for name, way in ways.items():
            if name == "raw COPY":
                self._count(batches * BATCH)
                plain = self._plain(batches)
            self._empty()
            cpu_s, started_s = self._cpu_s(own=name != "http"), time.perf_counter()
            way()
            taken_s = time.perf_counter() - started_s
            rates[name].a_second.append(batches * BATCH / taken_s)
            rates[name].a_cpu_second.append(batches * BATCH / (self._cpu_s(own=name != "http") - cpu_s))

    def steady(self, records: int) -> list[float]:
        """Send so many fresh records over HTTP; returns the memory after each chunk."""
        memory_mib = []
        for _ in range(0, records, CHUNK * BATCH):
            self._empty()
            drive(self.server, [request(batch) for batch in self._made(CHUNK)], CHUNK, CLIENTS, 200)
            memory_mib.append(self._memory_mib())
        return memory_mib

    def _made(self, batches: int) -> list[list[bytes]]:
        return [
            [window(number, self.report_ids[number % REPORTS]) for number in range(start, start + BATCH)]
            for start in range(0, batches * BATCH, BATCH)
        ]

    def _empty(self) -> None:
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"TRUNCATE observation, {RAW}"))
            connection.execute(text("CHECKPOINT"))

    def _memory_mib(self) -> float:
        """Resident memory of the server's processes."""
        return sum(process.memory_info().rss for process in self.workers) / 2**20

    def _plain(self, batches: int) -> list[list[Sequence[Any]]]:
        """What was stored last, as psycopg gives and takes it."""
        found = self.raw.execute("SELECT * FROM observation ORDER BY record_id").fetchall()
        self.raw.commit()
        rows = [[Jsonb(value) if isinstance(value, dict) else value for value in row] for row in found]
        return [rows[start : start + BATCH] for start in range(0, batches * BATCH, BATCH)]

    def _raw(self, batches: Sequence[Sequence[Sequence[Any]]]) -> None:
        for rows in batches:
            with self.raw.cursor() as cursor, cursor.copy(f"COPY {RAW} FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(self.types)
                for row in rows:
                    copy.write_row(row)
            self.raw.commit()

    def _store(self, batches: Sequence[Rows]) -> None:
        for rows in batches:
            with Session(self.engine) as session, session.begin():
                telemetry.insert_new(session, rows)

    def _count(self, records: int) -> None:
        with self.engine.connect() as connection:
            stored = connection.execute(text("SELECT count(*) FROM observation")).scalar_one()
        if stored != records:
            raise RuntimeError(f"{records} records were acknowledged, {stored} are stored")

    def _cpu_s(self, *, own: bool) -> float:
        """CPU of PostgreSQL and the server, or, where this process stores by itself, of PostgreSQL and this process."""
        ended = self.postmaster.cpu_times()
        postgres = [self.postmaster, *self.postmaster.children()]
        seen = [process.cpu_times() for process in [*postgres, *([psutil.Process()] if own else self.workers)]]
        return float(sum(t.user + t.system for t in seen) + ended.children_user + ended.children_system)


def measure(say: Callable[[str], None], batches: int, rounds: int, records: int) -> None:
    """Run the benchmark and `say` its figures."""
    rates = {name: Rates() for name in ("raw COPY", "store", "http")}
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="nnfleet-bench-", ignore_cleanup_errors=True)
        bench = Bench.set_up(stack, Path(stack.enter_context(temporary)))
        bench.round(4, {name: Rates() for name in rates})  # until everything is loaded and connected
        for _ in range(rounds):
            bench.round(batches, rates)
        memory_mib = bench.steady(records)
    for name, found in rates.items():
        say(
            f"{name}: {statistics.median(found.a_second):,.0f} records/s ({min(found.a_second):,.0f}–"
            f"{max(found.a_second):,.0f}), {statistics.median(found.a_cpu_second):,.0f} a CPU-second"
        )
    ratios = {
        "store": rates["store"].ratio(rates["raw COPY"], "a_second"),
        "http": rates["http"].ratio(rates["raw COPY"], "a_second"),
        "http per CPU": rates["http"].ratio(rates["raw COPY"], "a_cpu_second"),
    }
    for name, ratio in ratios.items():
        say(f"{name} ÷ raw COPY: {ratio:.2f} × ({at_least(ratio, GOALS[name], '×')})")
    settled = memory_mib[int(len(memory_mib) * SETTLED)]
    growth = memory_mib[-1] - settled
    say(
        f"memory of the server over {records:,} records: {settled:,.0f} MiB after a tenth, {max(memory_mib):,.0f} at most, "
        f"{growth:+.1f} MiB at the end ({at_most(growth, GOAL_GROWTH_MIB, 'MiB')})"
    )


def main() -> None:
    """The command line. A missed goal is printed, not an error: a shared machine is no judge."""
    parser = argparse.ArgumentParser(description="What telemetry costs, against raw binary COPY.")
    parser.add_argument("--batches", type=int, default=40, help="batches of 500 a round, as many for each client")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each way, in turn")
    parser.add_argument("--records", type=int, default=1_000_000, help="records that the memory is watched over")
    options = parser.parse_args()
    print(f"gunicorn gthread {WORKERS} × {THREADS}, {CLIENTS} clients; {machine()}")
    measure(print, max(1, options.batches // CLIENTS) * CLIENTS, options.rounds, options.records)


if __name__ == "__main__":
    main()
