"""Engine and transactions."""

from __future__ import annotations

from sqlalchemy import Engine, create_engine
from sqlalchemy.engine import make_url

from service.settings import Settings


def sqlalchemy_url(url: str) -> str:
    """A `postgresql://` URL with the driver we use named."""
    return make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def make_engine(settings: Settings) -> Engine:
    """An engine with a bounded pool: what does not get a connection in five seconds gets an error, not a queue."""
    return create_engine(
        sqlalchemy_url(settings.database_url),
        pool_size=settings.pool_size,
        max_overflow=0,
        pool_timeout=5,
        pool_pre_ping=True,
        connect_args={"application_name": "nnfleet", "connect_timeout": 5},
    )
