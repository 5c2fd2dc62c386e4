"""Migrations: up, down to nothing and up again, with data in them, and never apart from the tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from builders import make_fingerprint, make_report, uuid7
from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session
from typer.testing import CliRunner

from policies.fingerprint import fingerprint
from policies.report import parse_report, report_id
from service.cli.app import app
from service.settings import Settings
from service.store import partitions, reports, schema, tables
from service.store.engine import make_engine
from service.store.partitions import day_of


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


def test_a_database_of_a_newer_version_is_left_as_it_is(
    empty: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    schema.upgrade(empty)
    with empty.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999_later'"))
    with pytest.raises(schema.NewerSchema, match="at schema 9999_later, and this version knows those up to 0"):
        schema.upgrade(empty)
    monkeypatch.setenv("NNFLEET_HOME", str(tmp_path))
    monkeypatch.setenv("NNFLEET_DATABASE_URL", empty.url.render_as_string(hide_password=False))
    for command in (["migrate"], ["key", "list"], ["serve", "--port", "0"]):
        told = CliRunner().invoke(app, command)
        assert (told.exit_code, told.stderr.count("\n")) == (1, 1)
        assert told.stderr.startswith("nnfleet: the database is at schema 9999_later")
    assert _revision(empty) == "9999_later"


def test_tables_and_migrations_say_the_same(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": schema.ours})
        assert compare_metadata(context, tables.metadata) == []


INSERT = """
    INSERT INTO observation (record_id, payload_sha256, received_at, set_aside, report_id, device_class, app, release,
                             model, arm, kind, errors, histogram_buckets, histogram_counts)
    VALUES (:id, :digest, :at, :set_aside, 'r', 'c', 'camera', 1, 'm', 'a', 'window', '{"DEAD_OBJECT": 1}', '{3}', '{2}')
"""
KEPT = "SELECT record_id, payload_sha256, received_at, set_aside, errors::text, histogram_buckets FROM observation ORDER BY 1"


def test_observations_survive_being_partitioned_and_joined_again(empty: Engine) -> None:
    schema.upgrade(empty, "0001_first")
    at = datetime(2026, 5, 1, 23, 30, tzinfo=UTC)
    ids = [
        uuid7(date(2026, 5, 1)),
        uuid7(date(2026, 4, 30)),
        uuid4(),
        uuid7(date(2038, 1, 19)),
        uuid7(date(1970, 1, 1)),
    ]
    with empty.begin() as connection:
        for number, record_id in enumerate(ids):
            row = {"id": record_id, "digest": b"%d" % number, "at": at, "set_aside": "odd" if number == 1 else None}
            connection.execute(text(INSERT), row)
        before = connection.execute(text(KEPT)).all()
    schema.upgrade(empty, "0002_partitions")
    with empty.begin() as connection:
        assert connection.execute(text(KEPT)).all() == before
        days = {record_id: day for record_id, day in connection.execute(text("SELECT record_id, day FROM observation"))}  # noqa: C416
        assert days == {record_id: day_of(record_id) for record_id in ids}
        assert {date(2026, 4, 30), date(2026, 5, 1), date(2038, 1, 19)} <= set(partitions.days(connection))
        tallies = connection.execute(text("SELECT day, verdict, reason, records FROM telemetry_tally ORDER BY 2")).all()
        assert [tuple(row) for row in tallies] == [(at.date(), "accepted", "", 4), (at.date(), "set-aside", "odd", 1)]
    schema.downgrade(empty, "0001_first")
    with empty.begin() as connection:
        assert connection.execute(text(KEPT)).all() == before
        with pytest.raises(IntegrityError), connection.begin_nested():
            connection.execute(text(INSERT), {"id": ids[0], "digest": b"", "at": at, "set_aside": None})
    schema.upgrade(empty)
    with empty.begin() as connection:
        assert connection.execute(text(KEPT)).all() == before


def test_what_was_stated_before_there_were_revisions_is_approved_and_comes_back(empty: Engine) -> None:
    schema.upgrade(empty, "0003_jobs")
    with empty.begin() as connection:
        for statement in (
            """INSERT INTO policy VALUES ('camera', '{"app": "camera"}', now())""",
            """INSERT INTO model VALUES ('camera', 'seg', '{"app": "camera", "name": "seg"}', now())""",
            "INSERT INTO recommendation (made_at, figures, rankings) VALUES (now(), '{}', ''), (now(), '{}', '')",
            "INSERT INTO release VALUES (1, now(), 'one', 'aa', 'content'), (2, now(), 'undone', 'aa', 'content')",
        ):
            connection.execute(text(statement))
    schema.upgrade(empty)
    with empty.connect() as connection:
        rows = connection.execute(text("SELECT kind, subject, state, content FROM revision ORDER BY number")).all()
        contents = connection.execute(text("SELECT sha256, content FROM release_content")).all()
    assert [tuple(row)[:3] for row in rows] == [
        ("policy", "camera", "approved"),
        ("model", "camera/seg", "approved"),
        ("recommendation", "rankings", "approved"),
    ]
    assert rows[2].content == {"recommendation": 2}
    assert [tuple(row) for row in contents] == [("aa", b"content")]
    schema.downgrade(empty, "0003_jobs")
    with empty.connect() as connection:
        assert connection.execute(text("SELECT document FROM policy")).scalar_one() == {"app": "camera"}
        assert connection.execute(text("SELECT spec FROM model")).scalar_one() == {"app": "camera", "name": "seg"}
        assert (
            connection.execute(text("SELECT content FROM release ORDER BY number")).scalars().all() == [b"content"] * 2
        )


TALLIES = "SELECT fact, value, sum(device_classes), sum(reports) FROM fleet_tally GROUP BY 1, 2 ORDER BY 1, 2"


def test_facts_and_tallies_of_stored_classes_are_those_that_reports_would_have_made(empty: Engine) -> None:
    schema.upgrade(empty)
    driver = {"name": "xy-npu", "type": "accelerator"}
    bodies = [
        make_report(),
        make_report(device={"model": "Other", "soc_model": None}, nnapi=None),
        make_report(device={"model": "Odd"}, nnapi={"devices": [driver, driver | {"version": "2"}]}),
        make_report(
            device={"model": "Odd"},
            nnapi={"devices": [driver, driver | {"version": "2"}]},
            probe={"name": "older", "version": "0"},
        ),
    ]
    with Session(empty) as session, session.begin():
        for body in bodies:
            reports.store_report(session, report_id(body), body, fingerprint(parse_report(body)), datetime.now(UTC))

    def stored() -> tuple[list[Any], list[Any]]:
        with empty.connect() as connection:
            facts = connection.execute(text("SELECT * FROM class_facts ORDER BY device_class")).all()
            return list(facts), list(connection.execute(text(TALLIES)))

    made = stored()
    assert sorted(row.reports for row in made[0]) == [1, 1, 2]
    schema.downgrade(empty, "0007_set_aside")
    schema.upgrade(empty)
    assert stored() == made


LIKE: dict[type[Any], Any] = {
    sa.Boolean: True,
    sa.Integer: 1,
    sa.Float: 1.0,
    sa.Numeric: 1,
    sa.String: "it",
    sa.LargeBinary: b"it",
    sa.Date: date(2026, 5, 1),
    sa.DateTime: datetime(2026, 5, 1, 12, tzinfo=UTC),
    sa.Uuid: uuid7(date(2026, 5, 1)),
    JSONB: make_fingerprint().model_dump(mode="json"),
}
"""A value of every type that columns have. The JSON is a fingerprint: a migration reads those, and no other."""
FIRST_OF_ALL = "0004_revisions"
"""Earlier ones turn what they find into something else, and have tests of their own above."""


def _revisions() -> list[str]:
    config = Config()
    config.set_main_option("script_location", str(schema.MIGRATIONS))
    names = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()][::-1]
    return names[names.index(FIRST_OF_ALL) :]


def _tables(connection: Connection) -> list[sa.Table]:
    """All there are, the referenced before those that refer."""
    found = sa.MetaData()
    found.reflect(connection, only=lambda name, _: name != "alembic_version" and schema.ours(name, "table"))
    return found.sorted_tables


def _like(kind: Any) -> Any:
    if isinstance(kind, sa.ARRAY):
        return [_like(kind.item_type)]
    return next(value for known, value in LIKE.items() if isinstance(kind, known))


def _fill(connection: Connection) -> None:
    """A row in every table that has none; references hold, as all text is the same and all numbers are."""
    for table in _tables(connection):
        if not connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one():
            stated = {column.name: _like(column.type) for column in table.columns if column.computed is None}
            connection.execute(table.insert().values(stated))


def _held(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    return {
        table.name: [dict(row) for row in connection.execute(sa.select(table)).mappings()]
        for table in _tables(connection)
    }


def _shared(rows: dict[str, list[dict[str, Any]]], other: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """What stands in tables and columns that both have."""
    return {
        name: [{column: value for column, value in row.items() if column in other[name][0]} for row in found]
        for name, found in rows.items()
        if other.get(name)
    }


def test_every_migration_keeps_what_it_finds_both_ways(empty: Engine) -> None:
    older, *newer = _revisions()
    schema.upgrade(empty, older)
    for revision in newer:
        with empty.begin() as connection:
            _fill(connection)
            before = _held(connection)
        schema.upgrade(empty, revision)
        with empty.begin() as connection:
            above = _held(connection)
            assert _shared(above, before) == _shared(before, above), revision
            _fill(connection)
        schema.downgrade(empty, older)
        with empty.connect() as connection:
            assert _held(connection) == before, revision
        schema.upgrade(empty, revision)
        older = revision
    assert older == schema.newest_revision()


def test_who_was_bound_to_apps_is_shut_out_where_nothing_binds_them(empty: Engine) -> None:
    schema.upgrade(empty, "0018_apps_of_people")
    with empty.begin() as connection:
        for name, apps in (("anna", None), ("mia", ["camera"])):
            row = {"name": name, "apps": apps, "at": datetime(2026, 5, 1, tzinfo=UTC)}
            connection.execute(
                text("INSERT INTO person (name, role, apps, created_at) VALUES (:name, 'admin', :apps, :at)"), row
            )
            connection.execute(text("INSERT INTO person_session VALUES (:name, :name, 'a browser', :at, :at)"), row)
    schema.downgrade(empty, "0017_rollup_heat")
    with empty.connect() as connection:
        shut = connection.execute(text("SELECT name FROM person WHERE disabled_at IS NOT NULL")).scalars()
        assert list(shut) == ["mia"]
        assert list(connection.execute(text("SELECT person FROM person_session")).scalars()) == ["anna"]
    schema.upgrade(empty)
