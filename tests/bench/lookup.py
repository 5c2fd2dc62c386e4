"""What a lookup costs: `make bench`, or `python -m tests.bench.lookup [--requests 4000] [--rounds 5]`.

Both servers are gunicorn with the same settings (those of `service.server.gunicorn_command`). They are driven in turn,
several times, and judged by requests per CPU-second of their processes: wall time on a shared machine says little.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import operator
import platform
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
from typing import Any, Final, Self

import psutil

from policies.arm import ModelSpec
from policies.decide import decide
from policies.document import parse_document
from policies.fingerprint import fingerprint
from policies.knowledge import Knowledge
from policies.report import parse_report
from policies.wire import document_bytes
from service.server import gunicorn_command, running_server
from service.settings import Settings
from service.store import schema
from service.store.embedded import embedded_postgresql
from service.store.engine import make_engine
from tests.bench.load import Server, drive, get

GOAL_RATIO: Final = 1.5
TOUR: Final = Path(__file__).parents[2] / "docs" / "tour"
TOKEN: Final = "bench"
REPORTS: Final = 200
CONNECTIONS: Final = 16
WORKERS, THREADS = 2, 8
RULES: Final = 50


@dataclass(frozen=True)
class Target:
    """A server under load: its processes and the requests it is asked."""

    name: str
    server: Server
    processes: tuple[psutil.Process, ...]
    requests: Sequence[bytes]
    status: int

    def requests_a_cpu_second(self, count: int) -> float:
        """Answered requests per second of the server's CPU, user and system time together."""
        before = self._cpu_s()
        drive(self.server, self.requests, count, CONNECTIONS, self.status)
        return count / (self._cpu_s() - before)

    def _cpu_s(self) -> float:
        return float(sum(times.user + times.system for times in (process.cpu_times() for process in self.processes)))


def reports(count: int) -> dict[str, bytes]:
    """Report id → body, of phones that differ in their model's name."""
    report = json.loads((TOUR / "report.json").read_text("utf-8"))
    bodies = (
        json.dumps(report | {"device": report["device"] | {"model": f"Phone {n}"}}).encode() for n in range(count)
    )
    return {hashlib.sha256(body).hexdigest(): body for body in bodies}


def policy(rules: int) -> dict[str, Any]:
    """A policy with so many denies, none of which hits the phones of `reports`."""
    deny = {"arms": ["*.gpu"], "cohort": {"socs": ["t606"]}, "reason": "a rule for another phone"}
    return {"app": "camera", "denies": [deny | {"id": f"rule-{n}"} for n in range(rules)]}


def send(url: str, method: str, path: str, body: bytes) -> None:
    """One request of an operator or a phone; raises urllib.error.HTTPError where the server refuses."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}{path}", body, headers, method=method)
    with urllib.request.urlopen(request, timeout=30):
        pass


@contextmanager
def nnfleet(folder: Path) -> Iterator[str]:
    """The real server on a database with one release and all reports."""
    with embedded_postgresql(folder / "postgresql") as database_url:
        settings = Settings(database_url=database_url, manage_token=TOKEN, log_level="error")
        engine = make_engine(settings)
        schema.upgrade(engine)
        engine.dispose()
        with running_server(settings, workers=WORKERS, threads=THREADS) as url:
            send(url, "PUT", "/v1/models/camera/segmentation", (TOUR / "model.json").read_bytes())
            send(url, "PUT", "/v1/policies/camera", json.dumps(policy(RULES)).encode())
            for report_id, body in reports(REPORTS).items():
                send(url, "PUT", f"/v1/reports/{report_id}", body)
            publish(url)
            yield url


def publish(url: str) -> None:
    """The next release: every lookup after it is cold."""
    send(url, "POST", "/v1/releases", b'{"note": "bench"}')
    time.sleep(1.5)  # every worker has swapped by then


@contextmanager
def bare_flask(body: bytes, folder: Path) -> Iterator[str]:
    """Gunicorn with the same settings around the baseline."""
    file = folder / "body.json"
    file.write_bytes(body)
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        listener.set_inheritable(True)
        command = gunicorn_command(f"fd://{listener.fileno()}", WORKERS, THREADS, access_log=False)
        command[command.index("service.wsgi:make_application()")] = f"tests.bench.bare:make_application({str(file)!r})"
        process = subprocess.Popen(command, pass_fds=[listener.fileno()], cwd=Path(__file__).parents[2])
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            with urllib.request.urlopen(f"{url}/v1/decisions/camera/x", timeout=30):
                yield url
        finally:
            process.terminate()
            process.wait(timeout=15)


def new_processes(known: set[int]) -> tuple[psutil.Process, ...]:
    """Gunicorn processes below this one that are not in `known`, which they are added to."""
    children = psutil.Process().children(recursive=True)
    found = tuple(child for child in children if child.pid not in known and "gunicorn" in child.cmdline())
    known.update(child.pid for child in children)
    return found


def port_of(url: str) -> Server:
    """The server behind a URL of this machine."""
    return Server(int(url.rpartition(":")[2]))


def answer_of(url: str, report_id: str) -> tuple[bytes, str]:
    """(body, ETag) of a decision."""
    with urllib.request.urlopen(f"{url}/v1/decisions/camera/{report_id}", timeout=30) as answer:
        return answer.read(), answer.headers["ETag"]


@dataclass(frozen=True)
class Bench:
    """Both servers, up, and a document as ours answers it."""

    url: str
    bare_url: str
    ours: tuple[psutil.Process, ...]
    theirs: tuple[psutil.Process, ...]
    report_ids: tuple[str, ...]
    body: bytes

    @classmethod
    def set_up(cls, stack: ExitStack, folder: Path) -> Self:
        """Start everything; `stack` ends it."""
        known: set[int] = set()
        ids = tuple(reports(REPORTS))
        url = stack.enter_context(nnfleet(folder))
        ours = new_processes(known)
        body, _ = answer_of(url, ids[0])
        bare_url = stack.enter_context(bare_flask(body, folder))
        return cls(url, bare_url, ours, new_processes(known), ids, body)

    def targets(self) -> tuple[Target, ...]:
        """The baseline, hits, and hits of clients that have the document."""
        known = [get(path, answer_of(self.url, i)[1]) for path, i in zip(self._paths, self.report_ids, strict=True)]
        return (
            Target("bare Flask view", port_of(self.bare_url), self.theirs, self._plain, 200),
            self._hits,
            Target("lookup 304", port_of(self.url), self.ours, known, 304),
        )

    def cold_lookup_ms(self) -> float:
        """Server CPU of a lookup that is not ready, in ms: each report is asked once after a new release."""
        publish(self.url)
        return 1e3 / self._hits.requests_a_cpu_second(REPORTS // CONNECTIONS * CONNECTIONS)

    @property
    def _hits(self) -> Target:
        return Target("lookup hit", port_of(self.url), self.ours, self._plain, 200)

    @property
    def _paths(self) -> list[str]:
        return [f"/v1/decisions/camera/{report_id}" for report_id in self.report_ids]

    @property
    def _plain(self) -> list[bytes]:
        return [get(path) for path in self._paths]


def cold_decision_ms(rules: int) -> tuple[float, float]:
    """(report bytes → fingerprint, fingerprint → document bytes): CPU in ms of a decision, without HTTP and database."""
    document = parse_document(policy(rules))
    model = ModelSpec.model_validate_json((TOUR / "model.json").read_text("utf-8"))
    bodies = list(reports(REPORTS).values())
    started = time.process_time()
    facts = [fingerprint(parse_report(body)) for body in bodies]
    read = time.process_time()
    for found in facts:
        decision = decide(found, document, (model,), Knowledge())
        document_bytes(decision, document, 1, datetime(2026, 1, 1, tzinfo=UTC))
    return (read - started) * 1e3 / REPORTS, (time.process_time() - read) * 1e3 / REPORTS


def measure(say: Callable[[str], None], count: int, rounds: int) -> None:
    """Run the benchmark and `say` its figures."""
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="nnfleet-bench-", ignore_cleanup_errors=True)
        bench = Bench.set_up(stack, Path(stack.enter_context(temporary)))
        cold_ms = statistics.median(bench.cold_lookup_ms() for _ in range(3))
        rates = _in_turn(bench.targets(), count, rounds)
    baseline = rates["bare Flask view"]
    for name, found in rates.items():
        say(f"{name}: {statistics.median(found):,.0f} requests per CPU-second ({min(found):,.0f}–{max(found):,.0f})")
    ratios = {name: statistics.median(map(operator.truediv, found, baseline)) for name, found in rates.items()}
    goal = "met" if ratios["lookup hit"] >= GOAL_RATIO else "missed"
    read_ms, decide_ms = cold_decision_ms(RULES)
    say(f"lookup hit ÷ bare Flask view: {ratios['lookup hit']:.2f} × (goal ≥ {GOAL_RATIO} ×: {goal})")
    say(f"lookup 304 ÷ bare Flask view: {ratios['lookup 304']:.2f} ×")
    say(f"cold lookup over HTTP, {RULES} rules, database included: {cold_ms:.2f} ms CPU of the server")
    say(f"cold decision: {read_ms:.2f} ms CPU to read the report, {decide_ms:.2f} ms to decide with {RULES} rules")
    say(f"document: {len(bench.body):,} bytes; {rounds} rounds of {count:,} requests, {CONNECTIONS} connections")


def _in_turn(targets: Sequence[Target], count: int, rounds: int) -> dict[str, list[float]]:
    """Rates of each target by name; each gets its turn in every round."""
    for target in targets:
        target.requests_a_cpu_second(20 * REPORTS)  # until each worker holds each answer
    found: dict[str, list[float]] = {target.name: [] for target in targets}
    for _ in range(rounds):
        for target in targets:
            found[target.name].append(target.requests_a_cpu_second(count))
    return found


def machine() -> str:
    """What this ran on."""
    names = [line for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines() if line.startswith("model name")]
    name = names[0].partition(": ")[2] if names else platform.machine()
    return (
        f"{psutil.cpu_count()} × {name}, load {psutil.getloadavg()[0]:.1f} before, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    )


def main() -> None:
    """The command line. A missed goal is printed, not an error: a shared machine is no judge."""
    parser = argparse.ArgumentParser(description="What a lookup costs, against a bare Flask view.")
    parser.add_argument("--requests", type=int, default=4_000, help="requests a run")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each server, in turn")
    options = parser.parse_args()
    print(f"gunicorn gthread {WORKERS} × {THREADS}; {machine()}")
    measure(print, options.requests, options.rounds)


if __name__ == "__main__":
    main()
