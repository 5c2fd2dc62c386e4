"""Room for more: how large the database may become, and how much of its disk has to stay free."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, text

from service.intake.admission import StorageFull

LOOK_EVERY_S: Final = 10.0
RETRY_AFTER_S: Final = 300


class Room:
    """Looks every ten seconds whether there is room. The disk is looked at where the database is on this machine."""

    def __init__(
        self, engine: Engine, most_bytes: int, least_free_bytes: int, timer_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._most_bytes = most_bytes
        self._least_free_bytes = least_free_bytes
        self._timer_s = timer_s
        self._look_at_s = -1.0
        self._fault: StorageFull | None = None

    def check(self) -> None:
        """Raise StorageFull where there is no room."""
        if self._timer_s() >= self._look_at_s:
            # Set before looking: of several threads one looks, the others go by what was seen last.
            self._look_at_s = self._timer_s() + LOOK_EVERY_S
            with self._engine.connect() as connection:
                self._fault = self._look(connection)
        if self._fault is not None:
            raise StorageFull(self._fault.detail, RETRY_AFTER_S, limit=int(self._fault.limit or 0))

    def _look(self, connection: Connection) -> StorageFull | None:
        used = connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one()
        if self._most_bytes and used > self._most_bytes:
            return StorageFull("the database is as large as it may become", RETRY_AFTER_S, limit=self._most_bytes)
        free = _free_bytes(connection)
        if free is not None and free < self._least_free_bytes:
            return StorageFull("the database's disk is nearly full", RETRY_AFTER_S, limit=self._least_free_bytes)
        return None


def _free_bytes(connection: Connection) -> int | None:
    """Free bytes beside the database's files; None where they are elsewhere, or where we may not ask."""
    row = connection.execute(
        text("SELECT setting, inet_server_addr() FROM pg_settings WHERE name = 'data_directory'")
    ).first()
    # A server without an address was reached by a socket, on this machine.
    if row is None or row.inet_server_addr is not None or not Path(row.setting).is_dir():
        return None
    return shutil.disk_usage(row.setting).free
