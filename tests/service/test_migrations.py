"""Migrations: up, down to nothing and up again, and never apart from the tables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, inspect, text
from sqlalchemy.engine import make_url

from service.settings import Settings
from service.store import schema, tables
from service.store.engine import make_engine


@pytest.fixture
def empty(settings: Settings, engine: Engine) -> Iterator[Engine]:
    """A database without any table, beside the one of the other tests."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("DROP DATABASE IF EXISTS migrating"))
        connection.execute(text("CREATE DATABASE migrating"))
    url = make_url(settings.database_url).set(database="migrating").render_as_string(hide_password=False)
    engine = make_engine(Settings(url))
    yield engine
    engine.dispose()


def _revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        return schema.current_revision(connection)


def test_they_go_up_down_to_nothing_and_up_again(empty: Engine) -> None:
    assert _revision(empty) is None
    schema.upgrade(empty)
    assert _revision(empty) == schema.newest_revision()
    assert set(tables.metadata.tables) <= set(inspect(empty).get_table_names())
    schema.downgrade(empty, "base")
    assert inspect(empty).get_table_names() == ["alembic_version"]
    schema.upgrade(empty)
    schema.upgrade(empty)
    assert _revision(empty) == schema.newest_revision()


def test_tables_and_migrations_say_the_same(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, tables.metadata) == []
