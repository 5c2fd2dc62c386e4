"""`nnfleet serve` is killed with -9: nothing of it goes on, and the next one takes over what it left."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest

from service.server import WebServer
from service.settings import known_variables
from service.store.embedded import embedded_postgresql

ENDED_S = 60


def free_port() -> int:
    """One that is free twice: below those that the kernel hands to whoever asks for any."""
    while True:
        port = random.randrange(20_000, 30_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@pytest.fixture(autouse=True)
def _nothing_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in known_variables():
        monkeypatch.delenv(name, raising=False)


@contextmanager
def serving(port: int, data: Path, kind: WebServer) -> Iterator[subprocess.Popen[str]]:
    """`nnfleet serve` as an operator starts it, once it says that it serves."""
    where = ["--port", str(port), "--data", str(data), "--server", kind, "--workers", "1"]
    command = [sys.executable, "-m", "service.cli.app", "serve", *where]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if line.startswith("decisions are signed"):
                    break
            assert process.poll() is None
            yield process
        finally:
            process.terminate()


def kill(process: subprocess.Popen[str]) -> None:
    """As the kernel does that is out of memory; returns once what it had started has ended."""
    started = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    gone, alive = psutil.wait_procs(started, timeout=ENDED_S)
    assert not alive
    assert len(gone) >= 3  # web server, its worker, and who decides ahead


def test_a_killed_server_is_followed_by_the_next_on_the_same_port_and_data(tmp_path: Path) -> None:
    port, data = free_port(), tmp_path / "data"
    with serving(port, data, WebServer.GUNICORN) as first:
        token = (data / "manage-token").read_text()
        kill(first)
    postmaster = psutil.Process(int((data / "postgresql" / "postmaster.pid").read_text().split()[0]))
    with serving(port, data, WebServer.GUNICORN) as second:
        asked = httpx.get(f"http://127.0.0.1:{port}/v1/policies", headers={"Authorization": f"Bearer {token}"})
        assert asked.status_code == 200
        assert postmaster.is_running()
        second.send_signal(signal.SIGINT)
        assert second.wait(timeout=ENDED_S) == 0
    postmaster.wait(timeout=ENDED_S)  # who left it behind does not keep it up


def test_a_killed_server_leaves_no_granian(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("granian")
    monkeypatch.setenv("NNFLEET_DATABASE_URL", database_url)
    port = free_port()
    for _ in range(2):
        with serving(port, tmp_path / "data", WebServer.GRANIAN) as server:
            kill(server)


def test_the_number_of_a_dead_postmaster_that_somebody_else_has_now_is_no_server(tmp_path: Path) -> None:
    folder = tmp_path / "postgresql"
    with embedded_postgresql(folder):
        left_behind = (folder / "postmaster.pid").read_text().splitlines()
    left_behind[0] = str(os.getpid())
    (folder / "postmaster.pid").write_text("\n".join(left_behind))
    (folder / ".handle_pids.json").write_text("[")  # somebody was killed over it
    with embedded_postgresql(folder):
        assert (folder / "postmaster.pid").read_text().split()[0] != str(os.getpid())
