"""The lake: a folder a day, whole files, the same numbers as the database, on any file system that fsspec knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import fsspec
import pytest
from builders import make_attempt, make_observation
from flask.testing import FlaskClient
from sqlalchemy import Engine, text
from sqlmodel import Session
from typer.testing import CliRunner

from ml.lake import KEYS, counts, latencies, windows
from ml.lake_engines import DuckDB
from ml.lake_features import features
from service import clock
from service.cli.app import app
from service.jobs.lake import export
from service.jobs.rollup import roll_up, rollups
from service.jobs.run import figures_of

pytestmark = pytest.mark.usefixtures("known_report")


@pytest.fixture
def yesterday(client: FlaskClient, engine: Engine) -> str:
    """A day that is over: two windows, a start, a record that was set aside, and one of a clock that was set back."""
    records = [
        make_observation((4000, 4000, 5000)),
        make_observation((9000,), conditions={"after": {"thermal_status": 3}}, runs={"errors": {"DEAD_OBJECT": 2}}),
        make_attempt(),
        make_observation(golden={"checks": 1, "passed": 2}),
        make_observation(init={"load_us": -1}, golden={"checks": 3, "passed": 2}),
    ]
    assert client.post("/v1/telemetry", json=records).get_json()["accepted"] == 3
    with engine.begin() as connection:
        for table, column in (("observation", "received_at"), ("telemetry_tally", "day")):
            connection.execute(text(f"UPDATE {table} SET {column} = {column} - interval '1 day'"))
    now = clock.now()
    figures_of(roll_up(engine, now, now))
    return (datetime.now(UTC) - timedelta(days=1)).date().isoformat()


def read(lake: Path, kind: str, columns: str) -> list[tuple[Any, ...]]:
    query = f"SELECT {columns} FROM read_parquet('{lake}/{kind}/*/*.parquet', hive_partitioning = true) ORDER BY ALL"
    return duckdb.sql(query).fetchall()


def test_a_day_that_is_over_is_there_as_parquet(engine: Engine, yesterday: str, tmp_path: Path) -> None:
    assert figures_of(export(engine, str(tmp_path), clock.now())) == {"days": 1, "observations": 5}
    kinds = read(tmp_path, "observations", "day::text, kind, set_aside, run_count, errors")
    assert kinds == [
        (yesterday, "attempt", None, None, None),
        (yesterday, "window", "golden-impossible", 3, "{}"),
        (yesterday, "window", "negative-duration", None, "{}"),
        (yesterday, "window", None, 1, '{"DEAD_OBJECT": 2}'),
        (yesterday, "window", None, 3, "{}"),
    ]
    runs = read(tmp_path, "observations", "list_sum(list_transform(histogram, lambda pair: pair.count))")
    assert runs == [(1,), (3,), (None,), (None,), (None,)]
    rolled = read(
        tmp_path,
        "rollups",
        "day::text, heat, windows, runs, attempts, list_sum(list_transform(latency, lambda pair: pair.count))",
    )
    assert rolled == [(yesterday, "cool", 2, 3, 1, 3), (yesterday, "hot", 1, 1, 0, 1)]


def test_a_day_that_goes_on_is_not_there(engine: Engine, client: FlaskClient, tmp_path: Path) -> None:
    client.post("/v1/telemetry", json=[make_observation()])
    now = clock.now()
    figures_of(roll_up(engine, now, now))
    assert figures_of(export(engine, str(tmp_path), now)) == {"days": 0, "observations": 0}
    assert list(tmp_path.rglob("*.parquet")) == []


def test_what_came_late_is_there_after_the_next_export_and_nothing_twice(
    engine: Engine, yesterday: str, tmp_path: Path
) -> None:
    figures_of(export(engine, str(tmp_path), clock.now()))
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM observation WHERE kind = 'attempt'"))
    figures_of(export(engine, str(tmp_path), clock.now()))
    assert len(read(tmp_path, "observations", "record_id")) == 4
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["part.parquet", "part.parquet"]


def test_a_day_that_is_settled_is_written_once(engine: Engine, yesterday: str, tmp_path: Path) -> None:
    figures_of(export(engine, str(tmp_path), clock.now()))
    later = clock.now() + timedelta(days=30)
    assert figures_of(export(engine, str(tmp_path), later)) == {"days": 0, "observations": 0}


def test_any_place_that_fsspec_knows_will_do(engine: Engine, yesterday: str) -> None:
    memory = fsspec.filesystem("memory")
    figures_of(export(engine, "memory://lake", clock.now()))
    found = memory.find("/lake")
    assert found == [f"/lake/{kind}/day={yesterday}/part.parquet" for kind in ("observations", "rollups")]
    memory.rm("/lake", recursive=True)


def test_the_lake_rolls_up_to_what_the_service_stores(engine: Engine, yesterday: str, tmp_path: Path) -> None:
    figures_of(export(engine, str(tmp_path), clock.now()))
    columns = ("windows", "measured", "runs", "golden_checked", "golden_failed", "failed", "timed_out")
    cells = ", ".join(KEYS)
    learned = windows(DuckDB().observations(str(tmp_path)))
    ours = counts(learned).select(*KEYS, *columns).to_native().fetchall()
    buckets = latencies(learned).select(*KEYS, "bucket", "runs").to_native().fetchall()
    with engine.connect() as connection:
        stored = connection.execute(
            text(f"SELECT {cells}, {', '.join(columns)} FROM observation_rollup WHERE windows > 0")
        )
        assert sorted(ours) == sorted(map(tuple, stored))
        query = f"SELECT {cells}, b, n FROM observation_rollup, unnest(latency_buckets, latency_counts) AS h (b, n)"
        assert sorted(buckets) == sorted(map(tuple, connection.execute(text(query))))


def test_features_of_the_lake_are_what_the_learner_reads_from_the_database(
    engine: Engine, yesterday: str, tmp_path: Path
) -> None:
    now = clock.now()
    figures_of(export(engine, str(tmp_path), now))
    table = features(DuckDB().observations(str(tmp_path)), now).to_native()
    ours = {tuple(row[:6]): dict(zip(table.columns[6:], row[6:], strict=True)) for row in table.fetchall()}
    with Session(engine) as session:
        theirs = rollups(session)
    assert len(theirs) == len(ours) == 2
    for rollup in theirs:
        found = ours[*rollup.cell, rollup.workload, "hot" if rollup.hot else "cool"]
        # Sums of fractions are in millionths in the lake.
        assert found == pytest.approx({name: getattr(rollup, name) for name in found}, abs=1e-6)


def test_the_command_rolls_up_a_lake_without_a_database(engine: Engine, yesterday: str, tmp_path: Path) -> None:
    figures_of(export(engine, str(tmp_path), clock.now()))
    ran = CliRunner().invoke(app, ["rollup", str(tmp_path), "--to", str(tmp_path / "rolled")])
    assert ran.output == f"counts and latencies of {yesterday}\nfeatures\n"
    (rolled,) = duckdb.sql(f"SELECT sum(windows) FROM read_parquet('{tmp_path}/rolled/counts/*/*.parquet')").fetchall()
    assert rolled == (3,)


@pytest.mark.parametrize(
    ("options", "why"),
    [(["--engine", "abacus"], "abacus: there is duckdb, spark"), ([], "no observations in")],
)
def test_an_engine_that_is_not_there_and_an_empty_lake_are_refused(
    tmp_path: Path, options: list[str], why: str
) -> None:
    ran = CliRunner().invoke(app, ["rollup", str(tmp_path), "--to", str(tmp_path / "rolled"), *options])
    assert ran.exit_code == 2
    assert why in " ".join(ran.output.replace("│", " ").split())
