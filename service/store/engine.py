"""Engine and transactions."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.types.string import BytesBinaryDumper
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from policies.errors import InvalidField
from service.settings import Settings


def sqlalchemy_url(url: str) -> str:
    """A `postgresql://` URL with the driver we use named; raises InvalidField for any other, which it does not repeat."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise _no_url() from error
    if parsed.get_backend_name() not in {"postgresql", "postgres"}:
        raise _no_url()
    return parsed.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def _no_url() -> InvalidField:
    belongs = "the address of a PostgreSQL belongs here, as postgresql://user@host/database"
    return InvalidField(f"NNFLEET_DATABASE_URL: {belongs}", field="NNFLEET_DATABASE_URL")


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
