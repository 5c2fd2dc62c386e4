"""Start and stop the real server: gunicorn, or granian where it is installed, and the process that decides ahead."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service.lifeline import tied
from service.settings import Settings, child_environment

START_TIMEOUT_S: Final = 60
STOP_TIMEOUT_S: Final = 15
BACKLOG: Final = 2048


class WebServer(StrEnum):
    """What takes connections. Both serve the same callable; granian (extra `fast`) needs far less CPU a request."""

    GUNICORN = "gunicorn"
    GRANIAN = "granian"


class ServerDied(RuntimeError):
    """The server ended, or never answered, while it was starting."""


@dataclass(frozen=True)
class Running:
    """A server that is up: its address and its processes, the web server first."""

    url: str
    processes: Sequence[subprocess.Popen[bytes]]

    def died(self) -> bool:
        """Whether one of the processes has ended."""
        return any(process.poll() is not None for process in self.processes)


def gunicorn_command(bind: str, workers: int, threads: int, access_log: bool) -> list[str]:
    """The command line of the server. Keep-alive is worth a quarter of the throughput; requests time out at 30 s."""
    command = [sys.executable, "-m", "gunicorn", "service.wsgi:make_application()", "--bind", bind]
    command += ["--workers", str(workers), "--threads", str(threads), "--worker-class", "service.web.worker.Worker"]
    command += ["--keep-alive", "75", "--timeout", "30", "--graceful-timeout", "10", "--log-level", "warning"]
    return [*command, "--access-logfile", "-"] if access_log else command


def granian_command(host: str, port: int, workers: int, threads: int) -> list[str]:
    """The command line of the faster server."""
    command = [sys.executable, "-m", "granian", "service.wsgi:make_application", "--factory", "--interface", "wsgi"]
    command += ["--host", host, "--port", str(port), "--workers", str(workers), "--blocking-threads", str(threads)]
    return [*command, "--backlog", str(BACKLOG), "--no-ws", "--log-level", "warning"]


@contextmanager
def running_server(settings: Settings, *, port: int = 0, workers: int = 2, threads: int = 8) -> Iterator[str]:
    """The base URL of gunicorn on loopback; see `running_processes`."""
    with running_processes(settings, port=port, workers=workers, threads=threads) as running:
        yield running.url


@contextmanager
def running_processes(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    workers: int = 2,
    threads: int = 8,
    kind: WebServer = WebServer.GUNICORN,
) -> Iterator[Running]:
    """A server that runs while the block does. Port 0 takes a free one.

    Where the settings name a folder for ready decisions, a process that fills it runs beside it. Raises OSError where the
    address is taken and ServerDied where the server does not come up.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server((host, port), backlog=BACKLOG))
        bound: int = listener.getsockname()[1]
        if kind is WebServer.GUNICORN:
            listener.set_inheritable(True)
            command = gunicorn_command(f"fd://{listener.fileno()}", workers, threads, access_log=False)
        else:
            listener.close()  # granian takes no socket of ours; that the address was free is known now
            command = granian_command(host, bound, workers, threads)
        url = f"http://{host}:{bound}"
        descriptors = [listener.fileno()] if kind is WebServer.GUNICORN else []
        processes = [stack.enter_context(_process(command, settings, descriptors))]
        _wait_until_ready(url, processes[0])
        if settings.local_folder is not None:
            ahead = [sys.executable, "-m", "service.deciding.precompute"]
            processes.append(stack.enter_context(_process(ahead, settings, [])))
        yield Running(url, processes)


@contextmanager
def _process(
    command: Sequence[str], settings: Settings, descriptors: Sequence[int]
) -> Iterator[subprocess.Popen[bytes]]:
    # A session of its own: what does not stop when asked is killed with all its workers, not left without a master.
    # Tied to this process: where that is killed itself, nobody is left to ask.
    process = subprocess.Popen(  # noqa: S603
        tied(command), env=child_environment(settings), pass_fds=descriptors, start_new_session=True
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServerDied(f"the server ended with code {process.returncode} while starting")
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=5):  # noqa: S310 -- our own address
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise ServerDied(f"the server did not answer within {START_TIMEOUT_S} s")
