"""What benchmarks of lookups share: an installation under load, its processes, and the phones that ask it."""

from __future__ import annotations

import hashlib
import json
import platform
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

from service.deciding.local_copy import LocalCopy
from service.deciding.signing import kept_keys
from service.server import Running
from service.settings import Settings
from service.store import schema
from service.store.embedded import embedded_postgresql
from service.store.engine import make_engine
from tests.bench.load import Server, drive

TOUR: Final = Path(__file__).parents[2] / "docs" / "tour"
TOKEN: Final = "bench"
CONNECTIONS: Final = 16
WORKERS, THREADS = 2, 8
RULES: Final = 50
APP: Final = "camera"


@dataclass(frozen=True)
class Target:
    """A server under load: its processes and the requests it is asked."""

    name: str
    server: Server
    processes: tuple[psutil.Process, ...]
    requests: Sequence[bytes]
    status: int = 200

    def requests_a_cpu_second(self, count: int) -> float:
        """Answered requests per second of the server's CPU, user and system time together."""
        before = self._cpu_s()
        drive(self.server, self.requests, count, CONNECTIONS, self.status)
        return count / (self._cpu_s() - before)

    def _cpu_s(self) -> float:
        return sum(cpu_s(process) for process in self.processes)


def cpu_s(process: psutil.Process) -> float:
    """User and system time so far; none of one that has ended, as nginx's cache loader does a minute after its start."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def processes_of(pid: int) -> tuple[psutil.Process, ...]:
    """A process and all below it."""
    process = psutil.Process(pid)
    return (process, *process.children(recursive=True))


def web_processes(running: Running) -> tuple[psutil.Process, ...]:
    """The web server's processes: not the one that decides ahead."""
    return processes_of(running.processes[0].pid)


def port_of(url: str) -> Server:
    """The server behind a URL of this machine."""
    return Server(int(url.rpartition(":")[2]))


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
    return {"app": APP, "denies": [deny | {"id": f"rule-{n}"} for n in range(rules)]}


def send(url: str, method: str, path: str, body: bytes) -> None:
    """One request of an operator or a phone; raises urllib.error.HTTPError where the server refuses."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}{path}", body, headers, method=method)
    with urllib.request.urlopen(request, timeout=30):
        pass


def publish(url: str) -> None:
    """The next release: every lookup after it is cold."""
    send(url, "POST", "/v1/releases", b'{"note": "bench"}')


def furnish(url: str, bodies: Sequence[bytes]) -> None:
    """A model, a policy, these reports, and the first release."""
    send(url, "PUT", f"/v1/models/{APP}/segmentation", (TOUR / "model.json").read_bytes())
    send(url, "PUT", f"/v1/policies/{APP}", json.dumps(policy(RULES)).encode())
    for body in bodies:
        send(url, "PUT", f"/v1/reports/{hashlib.sha256(body).hexdigest()}", body)
    publish(url)


def answer_of(url: str, report_id: str) -> tuple[bytes, str]:
    """(body, ETag) of a decision."""
    with urllib.request.urlopen(f"{url}/v1/decisions/{APP}/{report_id}", timeout=30) as answer:
        return answer.read(), answer.headers["ETag"]


@contextmanager
def installation(folder: Path) -> Iterator[Settings]:
    """Settings on a database of its own that is migrated and empty; decisions are signed and decided ahead."""
    keys = folder / "signing-keys.json"
    kept_keys(keys)
    with embedded_postgresql(folder / "postgresql") as database_url:
        settings = Settings(database_url, TOKEN, log_level="critical", signing_keys=keys, local_folder=folder / "local")
        engine = make_engine(settings)
        schema.upgrade(engine)
        engine.dispose()
        yield settings


def wait_until_ahead(folder: Path, count: int, watch_interval_s: float) -> None:
    """Until so many decisions are ready in the host's file and the workers have had time to take it."""
    local = LocalCopy(folder)
    deadline = time.monotonic() + 120
    while (file := local.decisions()) is None or len(file) < count:
        if time.monotonic() > deadline:
            raise TimeoutError("the file of ready decisions was not made within two minutes")
        time.sleep(0.2)
    time.sleep(4 * watch_interval_s)


def machine() -> str:
    """What this runs on."""
    names = [line for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines() if line.startswith("model name")]
    name = names[0].partition(": ")[2] if names else platform.machine()
    return (
        f"{psutil.cpu_count()} × {name}, load {psutil.getloadavg()[0]:.1f} before, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    )
