"""A lake that is rolled up: the same rows by DuckDB and by Spark, whatever the lake holds (R-E7)."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import fsspec
import pytest
from lakes import row, strange_lake, write_lake
from spark_cluster import cluster

import ml.lake_job
from ml.lake_engines import DuckDB, EngineError
from ml.lake_job import roll_up

CRASHED_BEFORE = datetime(2026, 5, 3, tzinfo=UTC)
TABLES = ("counts", "latencies", "features")
needs_spark = pytest.mark.skipif(
    shutil.which("java") is None or importlib.util.find_spec("pyspark") is None,
    reason="no Java, or PySpark is not installed: make test-spark",
)
STRANGE_CELL = "model = 'видео' AND device_class = '级-é'"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    strange_lake(folder)
    return folder


@pytest.fixture(scope="module")
def rolled(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("rolled")
    list(roll_up(DuckDB(), str(lake), str(to), CRASHED_BEFORE))
    return to


def read(folder: Path, table: str, columns: str = "*", where: str = "true") -> duckdb.DuckDBPyRelation:
    path = f"{folder}/{table}/**/*.parquet"
    return duckdb.sql(
        f"SELECT {columns} FROM read_parquet('{path}', hive_partitioning = true) WHERE {where} ORDER BY ALL"
    )


def feature(rolled: Path, columns: str, where: str) -> tuple[Any, ...]:
    (found,) = read(rolled, "features", columns, where).fetchall()
    return tuple(found)


@needs_spark
def test_spark_makes_the_same_rows_of_the_same_types_as_duckdb(lake: Path, rolled: Path, tmp_path: Path) -> None:
    job = (sys.executable, "-m", "ml.lake_job", str(lake), "--to", str(tmp_path), "--engine", "spark")
    command = (*job, "--crashed-before", CRASHED_BEFORE.isoformat())
    for _ in range(2):  # rolled up once more, days are replaced
        ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
        assert ran.returncode == 0, ran.stderr
    assert_same_rows(rolled, tmp_path)


@needs_spark
def test_a_cluster_makes_them_too_with_every_worker_and_no_python_but_the_drivers(
    lake: Path, rolled: Path, tmp_path: Path
) -> None:
    with cluster(tmp_path, workers=2) as spark:
        job = (ml.lake_job.__file__, str(lake), "--to", str(tmp_path / "rolled"))
        ran = spark.submit(*job, "--crashed-before", CRASHED_BEFORE.isoformat())
    assert ran.returncode == 0, ran.stderr
    assert all(list(folder.glob("app-*")) for folder in spark.folders)
    assert_same_rows(rolled, tmp_path / "rolled")


def assert_same_rows(expected: Path, made: Path) -> None:
    for table in TABLES:
        ours, theirs = read(expected, table), read(made, table)
        assert list(zip(theirs.columns, theirs.types, strict=True)) == list(zip(ours.columns, ours.types, strict=True))
        assert theirs.fetchall() == ours.fetchall() != []


def test_names_of_any_script_and_buckets_below_zero_are_kept(rolled: Path) -> None:
    assert read(rolled, "latencies", "bucket, runs", STRANGE_CELL).fetchall() == [(-3, 2), (0, 1)]
    assert feature(rolled, "windows, measured, timed_out", STRANGE_CELL) == (2, 1, 1)


def test_a_day_without_observations_has_no_rows(rolled: Path) -> None:
    assert read(rolled, "counts", "DISTINCT day::text").fetchall() == [("2026-05-01",), ("2026-05-03",)]


def test_what_nobody_measured_is_null_and_not_zero(rolled: Path) -> None:
    nulls = feature(rolled, "delegated_share, partitions, golden_log_error, load_us, compile_us", STRANGE_CELL)
    assert nulls == (None,) * 5


def test_a_start_counts_as_a_crash_until_a_window_follows_on_whatever_day(rolled: Path) -> None:
    # Four starts: one was followed two days later, one is too fresh to tell, one is of a class that never measured.
    assert feature(rolled, "attempts, crashed", "device_class = 'one' AND heat = 'cool'") == (3, 1)
    assert feature(rolled, "attempts, crashed, windows, log_p50_us", "device_class = 'never-seen'") == (1, 1, 0, 0.0)


def test_a_delegate_without_nodes_says_nothing_about_its_share(rolled: Path) -> None:
    assert feature(rolled, "delegated_share, partitions, on_cpu", "heat = 'hot'") == (0.666667, 4.0, 1)
    assert feature(rolled, "delegated_share", "device_class = 'one' AND heat = 'unknown'") == (None,)


def test_counts_beyond_32_bits_are_added_up(rolled: Path) -> None:
    assert read(rolled, "latencies", "runs", "bucket = 9999").fetchall() == [(2**40,)]


def test_a_day_that_is_rolled_up_again_is_replaced(tmp_path: Path) -> None:
    for windows in (3, 2):
        write_lake(tmp_path / f"{windows}", [[row(n) for n in range(windows)]])
        list(roll_up(DuckDB(), str(tmp_path / f"{windows}"), str(tmp_path / "rolled"), CRASHED_BEFORE))
    assert read(tmp_path / "rolled", "counts", "windows").fetchall() == [(2,)]


def test_a_lake_may_lie_wherever_fsspec_reaches(tmp_path: Path) -> None:
    write_lake(tmp_path, [[row(1)]])
    memory = fsspec.filesystem("memory")
    memory.put(str(tmp_path / "observations"), "/far", recursive=True)
    memory.mv("/far", "/far-lake/observations", recursive=True)
    list(roll_up(DuckDB(), "memory://far-lake", "memory://far-lake/rolled", CRASHED_BEFORE))
    made = memory.find("/far-lake/rolled")
    assert made == [
        "/far-lake/rolled/counts/day=2026-05-01/part.parquet",
        "/far-lake/rolled/features/part.parquet",
        "/far-lake/rolled/latencies/day=2026-05-01/part.parquet",
    ]
    memory.rm("/far-lake", recursive=True)


def test_a_lake_without_observations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no observations"):
        list(roll_up(DuckDB(), str(tmp_path), str(tmp_path / "to"), CRASHED_BEFORE))
