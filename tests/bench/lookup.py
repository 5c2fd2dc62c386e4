"""What a lookup costs: `make bench`, or `python -m tests.bench.lookup [--requests 20000] [--rounds 5]`.

Servers are driven in turn, several times, and judged by requests per CPU-second of their processes: wall time on a shared
machine says little. All Python servers have the same number of workers and threads. nginx takes part where it is
installed; behind its cache, only its own CPU counts.
"""

from __future__ import annotations

import argparse
import operator
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from policies.decide import decide
from policies.document import parse_document
from policies.fingerprint import fingerprint
from policies.knowledge import Knowledge
from policies.model import ModelSpec
from policies.report import parse_report
from policies.wire import encoded, to_wire
from service.server import WebServer, gunicorn_command, running_processes
from service.settings import Settings
from tests.bench import nginx
from tests.bench.goals import at_least
from tests.bench.load import Server, get
from tests.bench.stage import (
    APP,
    CONNECTIONS,
    RULES,
    THREADS,
    TOUR,
    WORKERS,
    Target,
    answer_of,
    furnish,
    installation,
    machine,
    policy,
    port_of,
    processes_of,
    publish,
    reports,
    wait_until_ahead,
    web_processes,
)  # fmt: skip

REPORTS: Final = 12 * CONNECTIONS
BARE, STATIC = "bare Flask view, gunicorn", "nginx, static file"
GUNICORN, CONDITIONAL, GRANIAN, CACHE = (
    "lookup, gunicorn",
    "lookup 304, gunicorn",
    "lookup, granian",
    "lookup, nginx cache",
)
GOALS: Final = (
    (GUNICORN, BARE, 1.5),
    (CONDITIONAL, BARE, None),
    (GRANIAN, BARE, 9.0),
    (GRANIAN, STATIC, None),
    (CACHE, STATIC, 0.5),
)
"""(what, against what, at least how many times as many requests per CPU-second; None: only printed)."""


@contextmanager
def bare_flask(body: bytes, folder: Path) -> Iterator[tuple[str, int]]:
    """(URL, process id) of gunicorn with the same settings around the baseline."""
    file = folder / "body.json"
    file.write_bytes(body)
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        listener.set_inheritable(True)
        command = gunicorn_command(f"fd://{listener.fileno()}", WORKERS, THREADS, access_log=False)
        command[command.index("service.wsgi:make_application()")] = f"tests.bench.bare:make_application({str(file)!r})"
        process = subprocess.Popen(command, pass_fds=[listener.fileno()], cwd=Path(__file__).parents[2])
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            with urllib.request.urlopen(f"{url}/v1/decisions/{APP}/x", timeout=30):
                yield url, process.pid
        finally:
            process.terminate()
            process.wait(timeout=15)


@dataclass(frozen=True)
class Bench:
    """Every server, up and warm, and how a cold lookup is asked for."""

    targets: tuple[Target, ...]
    cold_ms: float
    body: bytes

    @classmethod
    def set_up(cls, stack: ExitStack, folder: Path) -> Bench:
        """Start everything; `stack` ends it."""
        bodies = reports(REPORTS)
        paths = [f"/v1/decisions/{APP}/{report_id}" for report_id in bodies]
        plain = [get(path) for path in paths]
        settings = stack.enter_context(installation(folder))
        ours = stack.enter_context(running_processes(settings, workers=WORKERS, threads=THREADS))
        furnish(ours.url, list(bodies.values()))
        hits = Target(GUNICORN, port_of(ours.url), web_processes(ours), plain)

        def cold_ms() -> float:
            publish(ours.url)
            time.sleep(3 * settings.watch_interval_s)
            return 1e3 / hits.requests_a_cpu_second(REPORTS)

        cold = statistics.median(cold_ms() for _ in range(3))
        wait_until_ahead(folder / "local", REPORTS, settings.watch_interval_s)
        body, _ = answer_of(ours.url, next(iter(bodies)))
        known = [get(path, answer_of(ours.url, path.rpartition("/")[2])[1]) for path in paths]
        targets = [
            _bare(stack, folder, body, plain),
            hits,
            Target(CONDITIONAL, hits.server, hits.processes, known, 304),
            _granian(stack, settings, plain),
            *(_nginx(stack, folder, body, paths, hits.server) if nginx.installed() else ()),
        ]
        return cls(tuple(targets), cold, body)


def _bare(stack: ExitStack, folder: Path, body: bytes, requests: Sequence[bytes]) -> Target:
    url, pid = stack.enter_context(bare_flask(body, folder))
    return Target(BARE, port_of(url), processes_of(pid), requests)


def _granian(stack: ExitStack, settings: Settings, requests: Sequence[bytes]) -> Target:
    running = stack.enter_context(running_processes(settings, workers=WORKERS, threads=THREADS, kind=WebServer.GRANIAN))
    time.sleep(4 * settings.watch_interval_s)  # until both workers have taken the file
    return Target(GRANIAN, port_of(running.url), web_processes(running), requests)


def _nginx(stack: ExitStack, folder: Path, body: bytes, paths: Sequence[str], backend: Server) -> tuple[Target, Target]:
    root = folder / "files"
    for path in paths:
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
    plain = [get(path) for path in paths]
    homes = [folder / "nginx-static", folder / "nginx-cache"]
    for home in homes:
        home.mkdir()
    folder.chmod(0o755)
    static_url, static_pid = stack.enter_context(nginx.static_files(root, homes[0]))
    cache_url, cache_pid = stack.enter_context(nginx.shipped_cache(backend.port, homes[1]))
    return (
        Target(STATIC, port_of(static_url), processes_of(static_pid), plain),
        Target(CACHE, port_of(cache_url), processes_of(cache_pid), plain),
    )


def cold_decision_ms(rules: int) -> tuple[float, float]:
    """(report bytes → fingerprint, fingerprint → document bytes): CPU in ms of a decision, without HTTP and database.

    The catalogues of chips and drivers are read before: a worker reads them once in its life.
    """
    document = parse_document(policy(rules))
    model = ModelSpec.model_validate_json((TOUR / "model.json").read_text("utf-8"))
    bodies = list(reports(REPORTS).values())
    fingerprint(parse_report(bodies[0]))
    started = time.process_time()
    facts = [fingerprint(parse_report(body)) for body in bodies]
    read = time.process_time()
    for found in facts:
        decision = decide(found, document, (model,), Knowledge())
        encoded(to_wire(decision, document, 1, datetime(2026, 1, 1, tzinfo=UTC)))
    return (read - started) * 1e3 / REPORTS, (time.process_time() - read) * 1e3 / REPORTS


def measure(say: Callable[[str], None], count: int, rounds: int) -> None:
    """Run the benchmark and `say` its figures."""
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="nnfleet-bench-", ignore_cleanup_errors=True)
        bench = Bench.set_up(stack, Path(stack.enter_context(temporary)))
        rates = _in_turn(bench.targets, count, rounds)
    for name, found in rates.items():
        say(f"{name}: {statistics.median(found):,.0f} requests per CPU-second ({min(found):,.0f}–{max(found):,.0f})")
    for name, baseline, goal in GOALS:
        if name in rates and baseline in rates:
            ratio = statistics.median(map(operator.truediv, rates[name], rates[baseline]))
            verdict = "" if goal is None else f" ({at_least(ratio, goal, '×')})"
            say(f"{name} ÷ {baseline}: {ratio:.2f} ×{verdict}")
    if not nginx.installed():
        say("nginx is not installed: nothing is compared with it")
    read_ms, decide_ms = cold_decision_ms(RULES)
    say(f"cold lookup over HTTP, {RULES} denies, database included: {bench.cold_ms:.2f} ms CPU of the server")
    say(f"cold decision: {read_ms:.2f} ms CPU to read the report, {decide_ms:.2f} ms to decide with {RULES} denies")
    say(f"document: {len(bench.body):,} bytes; {rounds} rounds of {count:,} requests, {CONNECTIONS} connections")


def _in_turn(targets: Sequence[Target], count: int, rounds: int) -> dict[str, list[float]]:
    """Rates of each target by name; each gets its turn in every round."""
    for target in targets:
        target.requests_a_cpu_second(20 * REPORTS)  # until each worker, or cache, holds each answer
    found: dict[str, list[float]] = {target.name: [] for target in targets}
    for _ in range(rounds):
        for target in targets:
            found[target.name].append(target.requests_a_cpu_second(count))
    return found


def main() -> None:
    """The command line. A missed goal is printed, not an error: a shared machine is no judge."""
    parser = argparse.ArgumentParser(description="What a lookup costs, against a bare Flask view and nginx.")
    parser.add_argument("--requests", type=int, default=20_000, help="requests a run")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each server, in turn")
    options = parser.parse_args()
    print(f"{WORKERS} workers × {THREADS} threads; {machine()}")
    measure(print, options.requests, options.rounds)


if __name__ == "__main__":
    main()
