"""A back-up is one file of one moment; a restore fills an empty database or changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import make_observation
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine, inspect, text
from sqlalchemy.engine import make_url

from service.settings import Settings
from service.store import schema
from service.store.backup import BackupError, back_up, restore
from service.store.engine import make_engine

COUNTED = ("report", "device_class", "observation", "telemetry_tally", "release")


@pytest.fixture
def other(settings: Settings, engine: Engine) -> Iterator[tuple[Engine, str]]:
    """An empty database beside the first, and its URL."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("DROP DATABASE IF EXISTS restored"))
        connection.execute(text("CREATE DATABASE restored"))
    url = make_url(settings.database_url).set(database="restored").render_as_string(hide_password=False)
    empty = make_engine(Settings(url))
    yield empty, url
    empty.dispose()


def counts(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return {name: connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in COUNTED}


def test_what_was_backed_up_comes_back_and_works(
    client: FlaskClient,
    operator: Operator,
    engine: Engine,
    settings: Settings,
    known_report: str,
    other: tuple[Engine, str],
    tmp_path: Path,
) -> None:
    operator.publish()
    sent = [make_observation() for _ in range(5)]
    client.post("/v1/telemetry", json=sent)
    before = counts(engine)
    assert back_up(settings.database_url, tmp_path / "fleet.dump") > 10_000
    client.post("/v1/telemetry", json=[make_observation()])
    restored, url = other
    restore(restored, url, tmp_path / "fleet.dump")
    schema.upgrade(restored)
    assert counts(restored) == before
    from service.app import create_app

    again = create_app(Settings(url), restored).test_client()
    assert again.post("/v1/telemetry", json=[*sent, make_observation()]).get_json()["duplicate"] == 5
    with restored.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM jobs.procrastinate_jobs")).scalar_one() == 0


def test_a_database_that_has_tables_is_not_restored_into(engine: Engine, settings: Settings, tmp_path: Path) -> None:
    back_up(settings.database_url, tmp_path / "fleet.dump")
    with pytest.raises(BackupError, match="empty"):
        restore(engine, settings.database_url, tmp_path / "fleet.dump")


def test_a_file_that_is_cut_short_restores_nothing(
    settings: Settings, engine: Engine, other: tuple[Engine, str], tmp_path: Path
) -> None:
    whole = tmp_path / "fleet.dump"
    back_up(settings.database_url, whole)
    cut = tmp_path / "cut.dump"
    cut.write_bytes(whole.read_bytes()[:-5_000])
    restored, url = other
    with pytest.raises(BackupError, match="pg_restore"):
        restore(restored, url, cut)
    assert inspect(restored).get_table_names() == []


def test_a_back_up_of_a_newer_version_is_refused_before_anything_is_touched(
    settings: Settings, engine: Engine, other: tuple[Engine, str], tmp_path: Path
) -> None:
    with engine.begin() as connection:
        known = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        connection.execute(text("UPDATE alembic_version SET version_num = '9999_of_tomorrow'"))
    try:
        back_up(settings.database_url, tmp_path / "fleet.dump")
    finally:
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :known"), {"known": known})
    restored, url = other
    with pytest.raises(schema.NewerSchema, match="9999_of_tomorrow"):
        restore(restored, url, tmp_path / "fleet.dump")
    assert inspect(restored).get_table_names() == []


def test_a_back_up_of_something_else_is_refused(other: tuple[Engine, str], tmp_path: Path) -> None:
    restored, url = other
    back_up(url, tmp_path / "empty.dump")
    with pytest.raises(BackupError, match="no back-up of nnfleet"):
        restore(restored, url, tmp_path / "empty.dump")


def test_a_back_up_that_fails_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="pg_dump"):
        back_up("postgresql://nobody:secret@127.0.0.1:1/nothing", tmp_path / "fleet.dump")
    assert list(tmp_path.iterdir()) == []


def test_a_back_up_is_for_its_owner_only(settings: Settings, engine: Engine, tmp_path: Path) -> None:
    back_up(settings.database_url, tmp_path / "fleet.dump")
    assert (tmp_path / "fleet.dump").stat().st_mode & 0o077 == 0
