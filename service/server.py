"""Start and stop the real server: gunicorn with its workers, on a socket that is already bound."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from service.settings import Settings, child_environment

START_TIMEOUT_S: Final = 60


class ServerDied(RuntimeError):
    """Gunicorn ended, or never answered, while it was starting."""


def gunicorn_command(bind: str, workers: int, threads: int, access_log: bool) -> list[str]:
    """The command line of the server. Keep-alive is worth a quarter of the throughput; requests time out at 30 s."""
    command = [sys.executable, "-m", "gunicorn", "service.wsgi:make_application()", "--bind", bind]
    command += ["--workers", str(workers), "--threads", str(threads), "--worker-class", "gthread"]
    command += ["--keep-alive", "75", "--timeout", "30", "--graceful-timeout", "10", "--log-level", "warning"]
    return [*command, "--access-logfile", "-"] if access_log else command


@contextmanager
def running_server(
    settings: Settings, *, host: str = "127.0.0.1", port: int = 0, workers: int = 2, threads: int = 8
) -> Iterator[str]:
    """The base URL of a server that runs while the block does. Port 0 takes a free one.

    Raises OSError where the address is taken and ServerDied where the server does not come up.
    """
    with socket.create_server((host, port), backlog=2048) as listener:
        listener.set_inheritable(True)
        command = gunicorn_command(f"fd://{listener.fileno()}", workers, threads, access_log=False)
        url = f"http://{host}:{listener.getsockname()[1]}"
        process = subprocess.Popen(command, env=child_environment(settings), pass_fds=[listener.fileno()])  # noqa: S603
        try:
            _wait_until_ready(url, process)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServerDied(f"the server ended with code {process.returncode} while starting")
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=5):  # noqa: S310 -- our own address
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise ServerDied(f"the server did not answer within {START_TIMEOUT_S} s")
