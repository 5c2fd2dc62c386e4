"""Engine and transactions."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.types.string import BytesBinaryDumper
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import make_url

from service.settings import Settings


def sqlalchemy_url(url: str) -> str:
    """A `postgresql://` URL with the driver we use named."""
    return make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def make_engine(settings: Settings) -> Engine:
    """An engine with a bounded pool: what does not get a connection in five seconds gets an error, not a queue."""
    engine = create_engine(
        sqlalchemy_url(settings.database_url),
        pool_size=settings.pool_size,
        max_overflow=0,
        pool_timeout=5,
        pool_pre_ping=True,
        connect_args={"application_name": "nnfleet", "connect_timeout": 5},
    )
    event.listen(engine, "connect", _send_bytes_as_they_are)
    return engine


def _send_bytes_as_they_are(connection: psycopg.Connection[Any], _record: object) -> None:
    """Bytes by psycopg's compiled dumper; told the type's name it takes a slower one, which telemetry would feel."""
    connection.adapters.register_dumper(bytes, BytesBinaryDumper)
