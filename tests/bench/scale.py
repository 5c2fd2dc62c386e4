"""What a hundred thousand reports cost: `make bench`, or `python -m tests.bench.scale [--reports 100000]`.

Two hosts are made up on disk, one with a hundred ready decisions and one with many, and served without any database: by
gunicorn with two workers each. Compared are requests per CPU-second, and the workers' private memory.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psutil

from policies.document import parse_document
from policies.fingerprint import fingerprint
from policies.model import ModelSpec
from policies.report import parse_report
from service.deciding.decision_body import decision_body
from service.deciding.decision_file import DecisionFile, DecisionFileWriter
from service.deciding.fast_lane import FastLane
from service.deciding.local_copy import LocalCopy
from service.deciding.lookup import Lookup
from service.deciding.signing import SigningKeys
from service.releasing.release_content import PackedRelease, pack
from service.server import running_processes
from service.settings import Settings
from service.store.engine import make_engine
from tests.bench.goals import at_most
from tests.bench.load import get
from tests.bench.stage import (
    APP,
    RULES,
    THREADS,
    TOUR,
    WORKERS,
    Target,
    machine,
    policy,
    port_of,
    reports,
    web_processes,
)

FEW: Final = 100
DECISIONS_SHARED: Final = 10
"""Reports that get one and the same body. Assumed; a body is in the file once."""
ASKED: Final = 20_000
AWAY: Final = "postgresql://nobody@127.0.0.1:1/away"
GOAL_MB, GOAL_GET_US, GOAL_RATIO = 30, 10, 1.2


@dataclass(frozen=True)
class Host:
    """A host with ready decisions: where it keeps them, for whom, and how large the file is."""

    folder: Path
    report_ids: tuple[str, ...]

    @property
    def file_mb(self) -> float:
        """Size of the file in MB."""
        return (self.folder / "decisions.nnfleet").stat().st_size / 1e6


def host(folder: Path, count: int) -> Host:
    """Make up a host that has decided ahead for so many reports, under one release."""
    local = LocalCopy(folder)
    model = ModelSpec.model_validate_json((TOUR / "model.json").read_text("utf-8"))
    content, _ = pack([parse_document(policy(RULES))], [model], {}, ())
    packed = PackedRelease(1, datetime(2026, 1, 1, tzinfo=UTC), content, ())
    local.keep_release(packed)
    facts = fingerprint(parse_report(next(iter(reports(1).values()))))
    body = decision_body(packed.unpacked(), APP, facts)
    keys = SigningKeys.generate()
    signature = keys.sign("0" * 64, hashlib.sha256(body).hexdigest(), 1, "2026-02-01T00:00:00Z")
    report_ids = tuple(hashlib.sha256(f"report {number}".encode()).hexdigest() for number in range(count))
    with DecisionFileWriter(local.decisions_file, 1) as file:
        for number, report_id in enumerate(report_ids):
            file.add(APP, report_id, body + b" " * (number // DECISIONS_SHARED % 1000), signature)
    return Host(folder, report_ids)


def get_us(made: Host) -> float:
    """CPU of reading one decision from the file in this process, in µs; ids in random order."""
    file = DecisionFile(made.folder / "decisions.nnfleet")
    asked = random.Random(0).choices(made.report_ids, k=ASKED)
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        for report_id in asked:
            file.get(APP, report_id)
        best = min(best, time.process_time() - started)
    return best * 1e6 / ASKED


def hit_us(made: Host) -> float:
    """CPU of a hit in this process, without the web server, in µs; ids in random order.

    Of few reports the answers stay made. Of many each is read anew, from memory that is in no cache of the CPU: that is
    what our part of a hit costs more.
    """
    local = LocalCopy(made.folder)
    release, file = local.release(), local.decisions()
    if release is None or file is None:
        raise RuntimeError("the host has nothing ready")
    lookup = Lookup(make_engine(Settings(AWAY)), 0, None, local)
    lookup.swap(release)
    lookup.adopt(file)
    lane = FastLane(lookup, _nobody)
    requests = [
        {"PATH_INFO": f"/v1/decisions/{APP}/{report_id}", "REQUEST_METHOD": "GET"}
        for report_id in random.Random(0).choices(made.report_ids, k=ASKED)
    ]
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        for request in requests:
            lane(request, _unsent)
        best = min(best, time.process_time() - started)
    return best * 1e6 / ASKED


def _unsent(*_: object) -> Callable[[bytes], None]:
    return lambda _: None


def _nobody(*_: object) -> list[bytes]:
    raise RuntimeError("a decision that was to be ready is not")


def private_mb(process: psutil.Process) -> float:
    """Memory of a process that nobody shares, in MB."""
    lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text("ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1e3


def measure(say: Callable[[str], None], many: int, count: int, rounds: int) -> None:
    """Run the benchmark and `say` its figures."""
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="nnfleet-bench-", ignore_cleanup_errors=True)
        root = Path(stack.enter_context(temporary))
        few, much = host(root / "few", FEW), host(root / "many", many)
        targets = [_served(stack, made, count) for made in (few, much)]
        rates = [[target.requests_a_cpu_second(count) for target in targets] for _ in range(rounds)]
        memory = [statistics.mean(private_mb(worker) for worker in target.processes[1:]) for target in targets]
        took_us = get_us(much)
        hits_us = [hit_us(made) for made in (few, much)]
        say(f"file of {many:,} decisions: {much.file_mb:.0f} MB, shared by all workers")
    more = memory[1] - memory[0]
    cost = statistics.median(first / second for first, second in rates)
    say(f"private memory of a worker: {memory[0]:.0f} MB with {FEW} reports")
    say(f"with {many:,} reports: {more:+.1f} MB ({at_most(more, GOAL_MB, 'MB')})")
    say(f"a get: {took_us:.1f} µs CPU ({at_most(took_us, GOAL_GET_US, 'µs')})")
    request_us = 1e6 / statistics.median(first for first, _ in rates)
    say(
        f"a hit without the web server: {hits_us[0]:.1f} µs with {FEW} reports, {hits_us[1]:.1f} µs with {many:,}: of the "
        f"{request_us:.0f} µs of a request that makes {1 + (hits_us[1] - hits_us[0]) / request_us:.2f} ×"
    )
    say(f"a hit with {many:,} reports ÷ with {FEW}: {cost:.2f} × CPU ({at_most(cost, GOAL_RATIO, '×')})")


def _served(stack: ExitStack, made: Host, count: int) -> Target:
    """The host, served and warm."""
    settings = Settings(AWAY, log_level="critical", local_folder=made.folder)
    running = stack.enter_context(running_processes(settings, workers=WORKERS, threads=THREADS))
    asked = random.Random(0).choices(made.report_ids, k=count)
    requests = [get(f"/v1/decisions/{APP}/{report_id}") for report_id in asked]
    target = Target(made.folder.name, port_of(running.url), web_processes(running), requests)
    target.requests_a_cpu_second(count)
    return target


def main() -> None:
    """The command line. A missed goal is printed, not an error: a shared machine is no judge."""
    parser = argparse.ArgumentParser(description="What many reports cost.")
    parser.add_argument("--reports", type=int, default=100_000, help="ready decisions of the larger host")
    parser.add_argument("--requests", type=int, default=10_000, help="requests a run")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each host, in turn")
    options = parser.parse_args()
    print(f"gunicorn, {WORKERS} workers × {THREADS} threads; {machine()}")
    measure(print, options.reports, options.requests, options.rounds)


if __name__ == "__main__":
    main()
