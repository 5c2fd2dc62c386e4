"""The database of a command: the one that is named, else the embedded one, at the newest schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine

from service.settings import Settings, state_folder
from service.store import schema
from service.store.embedded import database
from service.store.engine import make_engine


@contextmanager
def open_database(data: Path | None) -> Iterator[Engine]:
    """An engine on it, migrated; closed at the end."""
    with database((data or state_folder()) / "postgresql") as url:
        engine = make_engine(Settings(database_url=url))
        try:
            schema.upgrade(engine)
            yield engine
        finally:
            engine.dispose()
