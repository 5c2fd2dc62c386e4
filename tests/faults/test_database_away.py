"""PostgreSQL is killed under load: every lookup goes on, also after the server is started anew (R-F4)."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import httpx
import psutil
import pytest
from builders import make_model_json, make_report

from nnfleet_client.seal import Seal
from policies.report import report_id
from service.deciding.local_copy import LocalCopy
from service.deciding.signing import HEADER, kept_keys
from service.server import WebServer, running_processes
from service.settings import Settings
from service.store import schema
from service.store.embedded import embedded_postgresql
from service.store.engine import make_engine

TOKEN = "t"
PHONES = 20
CLIENTS = 4
WORKERS = 2


def kill_postgresql(folder: Path) -> None:
    """As a machine does that loses power: postmaster and all its children at once."""
    postmaster = psutil.Process(int((folder / "postmaster.pid").read_text("ascii").split()[0]))
    for process in (postmaster, *postmaster.children(recursive=True)):
        with suppress(ProcessLookupError):  # a backend may have ended by itself
            os.kill(process.pid, signal.SIGKILL)


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Settings]:
    """A database with one release, and what a host keeps beside it."""
    (tmp_path / "host").mkdir()
    keys = tmp_path / "host" / "keys.json"
    kept_keys(keys)
    with embedded_postgresql(tmp_path / "postgresql") as url:
        settings = Settings(url, TOKEN, log_level="critical", signing_keys=keys, local_folder=tmp_path / "host")
        engine = make_engine(settings)
        schema.upgrade(engine)
        engine.dispose()
        yield settings


def publish(server: str) -> None:
    with httpx.Client(base_url=server, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as operator:
        operator.put("/v1/models/camera/segmentation", json=make_model_json()).raise_for_status()
        operator.put("/v1/policies/camera", json={"schema": 1, "app": "camera"}).raise_for_status()
        operator.post("/v1/releases", json={"note": "first"}).raise_for_status()


def upload(server: str) -> list[str]:
    bodies = [make_report(device={"model": f"Phone {number}"}) for number in range(PHONES)]
    for body in bodies:
        httpx.put(f"{server}/v1/reports/{report_id(body)}", content=body, timeout=60).raise_for_status()
    return [report_id(body) for body in bodies]


def ask(server: str, reports: list[str]) -> dict[str, tuple[str, str]]:
    """Report → (digest of the body, signature)."""
    found = {}
    with httpx.Client(base_url=server, timeout=30) as phone:
        for report in reports:
            answer = phone.get(f"/v1/decisions/camera/{report}").raise_for_status()
            found[report] = (sha256(answer.content).hexdigest(), answer.headers[HEADER])
    return found


@contextmanager
def load(server: str, reports: list[str]) -> Iterator[Counter[int | str]]:
    """Phones that ask without a pause while the block runs: how often each status, or what else happened, was seen."""
    seen: Counter[int | str] = Counter()
    stop = threading.Event()

    def work() -> None:
        with httpx.Client(base_url=server, timeout=60) as phone:
            while not stop.is_set():
                for report in reports:
                    try:
                        seen[phone.get(f"/v1/decisions/camera/{report}").status_code] += 1
                    except httpx.HTTPError as error:
                        seen[type(error).__name__] += 1

    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=30)


def wait_for_answers(seen: Counter[int | str], count: int) -> None:
    """Until so many lookups were answered 200 in all, or one otherwise."""
    deadline = time.monotonic() + 60
    while set(seen) <= {200} and seen[200] < count:
        assert time.monotonic() < deadline, f"only {seen[200]} of {count} lookups were answered"
        time.sleep(0.01)


def wait_until_ready_ahead(settings: Settings) -> None:
    """Until the host's file holds a decision for every phone, and every worker has it open."""
    assert settings.local_folder is not None
    local = LocalCopy(settings.local_folder)
    deadline = time.monotonic() + 60
    while (file := local.decisions()) is None or len(file) < PHONES or having_open(local.decisions_file) < WORKERS:
        assert time.monotonic() < deadline, "the file of ready decisions was not made, or a worker did not open it"
        time.sleep(0.1)


def having_open(file: Path) -> int:
    """How many processes that this one started have the file as it is now in their memory."""
    found = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it may have ended meanwhile
            found += str(file) in {mapped.path for mapped in process.memory_maps()}
    return found


@pytest.mark.parametrize("kind", WebServer)
def test_lookups_go_on_while_postgresql_is_dead_and_after_the_server_was_started_anew(
    installation: Settings, tmp_path: Path, kind: WebServer
) -> None:
    with running_processes(installation, kind=kind, workers=WORKERS) as running:
        publish(running.url)
        reports = upload(running.url)
        before = ask(running.url, reports)
        wait_until_ready_ahead(installation)
        with load(running.url, reports) as seen:
            wait_for_answers(seen, PHONES)
            kill_postgresql(tmp_path / "postgresql")
            asked = seen[200]
            wait_for_answers(seen, asked + 50 * PHONES)
        print(f"{kind}: {asked} lookups before PostgreSQL was killed, {seen[200] - asked} after; {dict(seen)}")
        assert set(seen) == {200}
        ready = httpx.get(f"{running.url}/readyz", timeout=30)
        assert (ready.status_code, ready.json()) == (200, {"database": "down", "release": 1})
    with running_processes(installation, kind=kind, workers=WORKERS) as running:
        again = ask(running.url, reports)
        assert {report: digest for report, (digest, _) in again.items()} == {
            report: digest for report, (digest, _) in before.items()
        }
        unknown = httpx.get(f"{running.url}/v1/decisions/camera/{'0' * 64}", timeout=30)
        assert (unknown.status_code, unknown.json()["code"]) == (503, "database-unavailable")
        assert unknown.headers["Retry-After"].isdigit()


def test_what_was_decided_ahead_is_signed_for_each_report(installation: Settings) -> None:
    with running_processes(installation, workers=WORKERS) as running:
        publish(running.url)
        reports = upload(running.url)
        ask(running.url, reports)
        wait_until_ready_ahead(installation)
        published = httpx.get(f"{running.url}/.well-known/jwks.json", timeout=60).json()["keys"]
    assert installation.signing_keys is not None
    keys = kept_keys(installation.signing_keys)
    assert [key["kid"] for key in published] == list(keys.kids)
    file = LocalCopy(installation.local_folder).decisions() if installation.local_folder else None
    assert file is not None
    trusted = keys.trusted()
    for report in reports:
        stored = file.get("camera", report)
        assert stored is not None
        assert Seal(report, trusted).refusal(stored.body, stored.signature, 0.0) is None
