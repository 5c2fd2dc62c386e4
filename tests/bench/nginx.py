"""nginx as a baseline and as the shipped cache, where it is installed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

BINARY: Final = shutil.which("nginx") or "/usr/sbin/nginx"
SHIPPED: Final = Path(__file__).parents[2] / "deploy" / "nginx.conf"


def installed() -> bool:
    """Whether there is an nginx to compare with."""
    return Path(BINARY).exists()


@contextmanager
def static_files(root: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """(URL, process id) of nginx serving the files below `root`, with two workers, and nothing else."""
    port = _free_port()
    config = f"""
        worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log crit; daemon off;
        events {{ worker_connections 1024; }}
        http {{
            access_log off; keepalive_requests 1000000; default_type application/json; sendfile on;
            open_file_cache max=10000; open_file_cache_valid 600s;
            server {{ listen 127.0.0.1:{port}; root {root}; }}
        }}"""
    with _running(config, folder, port) as pid:
        yield f"http://127.0.0.1:{port}", pid


@contextmanager
def shipped_cache(backend_port: int, folder: Path) -> Iterator[tuple[str, int]]:
    """(URL, process id) of nginx with the project's own configuration before a server of this machine."""
    port = _free_port()
    config = SHIPPED.read_text("utf-8")
    for stated, ours in (
        ("server service:8080", f"server 127.0.0.1:{backend_port}"),
        ("listen 8080", f"listen 127.0.0.1:{port}"),
        ("/var/cache/nginx/", f"{folder}/cache-"),
        ("pid /tmp/nginx.pid", f"pid {folder}/nginx.pid; daemon off"),
        ("access_log /dev/stdout plain", "access_log off; keepalive_requests 1000000"),
        ("/tmp/nginx-", f"{folder}/nginx-"),
    ):
        if stated not in config:
            raise ValueError(f"deploy/nginx.conf does not say {stated!r} any more")
        config = config.replace(stated, ours)
    with _running(config, folder, port) as pid:
        yield f"http://127.0.0.1:{port}", pid


@contextmanager
def _running(config: str, folder: Path, port: int) -> Iterator[int]:
    file = folder / "nginx.conf"
    file.write_text(config, "utf-8")
    folder.chmod(0o755)
    process = subprocess.Popen([BINARY, "-c", str(file), "-p", str(folder)], stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield process.pid
    finally:
        process.terminate()
        process.wait(timeout=15)


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 15
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
