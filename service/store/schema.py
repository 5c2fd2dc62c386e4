"""Bring a database to the newest schema, or compare it with the tables. Safe to call from several processes at once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, text

MIGRATIONS: Final = Path(__file__).parent / "migrations"
_LOCK: Final = 7_301_942  # advisory lock of our migrations; any number that nobody else uses


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def ours(name: str | None, kind: str, _parents: object = None) -> bool:
    """Whether a table that the database has is compared with ours: partitions come and go with the days."""
    return kind != "table" or name is None or not name.startswith("observation_") or name == "observation_rollup"


class NewerSchema(RuntimeError):
    """The database, or a back-up of one, is at a schema that only a newer version knows."""


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Run the migrations up to `revision`; raises NewerSchema, and then nothing was changed."""
    with engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        found = current_revision(connection)
        if found is not None:
            check_known(found, "the database")
        command.upgrade(_config(connection), revision)


def check_known(revision: str, whose: str) -> None:
    """Raise NewerSchema where the revision is in no migration of ours."""
    try:
        _scripts().get_revision(revision)
    except CommandError as error:
        raise NewerSchema(
            f"{whose} is at schema {revision}, and this version knows those up to {newest_revision()}: run the newer one"
        ) from error


def downgrade(engine: Engine, revision: str) -> None:
    """Undo migrations down to `revision` ("base" for all)."""
    with engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        command.downgrade(_config(connection), revision)


def newest_revision() -> str | None:
    """The head of the migrations in this installation."""
    return _scripts().get_current_head()


def _scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return ScriptDirectory.from_config(config)


def current_revision(connection: Connection) -> str | None:
    """The revision the database is at."""
    return MigrationContext.configure(connection).get_current_revision()


def new_revision(engine: Engine, message: str, name: str) -> None:
    """Write a migration for what the tables have and the database has not: for developers."""
    with engine.begin() as connection:
        command.revision(_config(connection), message, autogenerate=True, rev_id=name)
