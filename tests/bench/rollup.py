"""What a rollup of the lake costs: `python -m tests.bench.rollup [--rows 2000000] [--rounds 3]`.

The same rollup as Narwhals expressions (`ml.lake_job`) and as SQL written by hand, both run by DuckDB on the same Parquet
files, day by day into Parquet again, in turn, judged by CPU. Both have to come to the same numbers.
"""

from __future__ import annotations

import argparse
import operator
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import duckdb

from ml.lake import KEYS
from ml.lake_engines import DuckDB
from ml.lake_job import roll_up_days
from tests.bench.goals import at_least, at_most
from tests.bench.stage import machine

GOAL_RATIO: Final = 1.3
GOAL_ROWS: Final = 800_000
DAYS: Final = 4
_CELL: Final = ", ".join(KEYS)
# 7,200 cells and days: 75 classes, 6 arms, both workloads, hot or not, four days.
MAKE: Final = """
    COPY (
        SELECT DATE '2026-05-01' + (n % {days})::int AS day, 'window' AS kind, NULL::varchar AS set_aside,
               'class-' || (hash(n, 1) % 75) AS device_class, 'camera' AS app, 'segmentation' AS model,
               'arm-' || (hash(n, 2) % 6) AS arm, CASE WHEN hash(n, 3) % 5 < 4 THEN 'burst' ELSE 'sustained' END AS workload,
               (hash(n, 4) % 4)::int AS thermal_after, 30::int AS run_count, 2::int AS golden_checks, 2::int AS golden_passed,
               0::int AS timeouts, '{{}}' AS errors,
               list_transform(range(4), lambda i: {{'bucket': (400 + (hash(n) + i) % 60)::int, 'count': (7 + i % 2)::bigint}})
                   AS histogram
        FROM range({rows}) AS numbers (n)
    ) TO '{lake}/observations' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day), FILENAME_PATTERN 'part_{{i}}')
"""
LEARNED: Final = """
    SELECT * EXCLUDE (workload), coalesce(workload, 'burst') AS workload, CASE WHEN thermal_after IS NULL THEN 'unknown' WHEN thermal_after >= 2 THEN 'hot' ELSE 'cool' END AS heat
    FROM read_parquet('{lake}/observations/{day}/*.parquet', hive_partitioning = true)
    WHERE set_aside IS NULL AND kind = 'window'
"""
COUNTS: Final = f"""
    SELECT {_CELL}, count(*) AS windows, count(*) FILTER (WHERE run_count > 0) AS measured, sum(run_count)::bigint AS runs,
           count(*) FILTER (WHERE golden_checks > 0), count(*) FILTER (WHERE golden_passed < golden_checks),
           count(*) FILTER (WHERE run_count = 0 AND timeouts = 0 AND errors <> '{{{{}}}}'),
           count(*) FILTER (WHERE timeouts > 0)
    FROM ({LEARNED}) GROUP BY ALL
"""
LATENCIES: Final = f"""
    SELECT {_CELL}, held.bucket, sum(held.count)::bigint AS runs
    FROM (SELECT {_CELL}, unnest(histogram) AS held FROM ({LEARNED})) WHERE held.count > 0 GROUP BY ALL
"""
TABLES: Final = {"counts": COUNTS, "latencies": LATENCIES}
Way = Callable[[str, str], None]
"""Rolls the lake in the first folder up into the second."""


def by_sql(lake: str, to: str) -> None:
    """Counts and histograms, by hand."""
    connection = duckdb.connect()
    for table, query in TABLES.items():
        for day in sorted(path.name for path in Path(lake, "observations").iterdir()):
            place = Path(to, table, day)
            place.mkdir(parents=True, exist_ok=True)
            made = query.format(lake=lake, day=day)
            connection.execute(f"COPY ({made}) TO '{place}/part.parquet' (FORMAT parquet, COMPRESSION zstd)")


def by_narwhals(lake: str, to: str) -> None:
    """The same by `ml.lake_job`."""
    list(roll_up_days(DuckDB(), lake, to))


def found(to: str, table: str) -> list[tuple[object, ...]]:
    """What a way came to, in order; keys first, as both write them."""
    path = f"{to}/{table}/*/*.parquet"
    return duckdb.sql(
        f"SELECT * EXCLUDE (day), day FROM read_parquet('{path}', hive_partitioning = true) ORDER BY ALL"
    ).fetchall()


def cpu_s(way: Way, lake: str, to: str) -> float:
    """CPU of one rollup, all threads together."""
    started = time.process_time()
    way(lake, to)
    return time.process_time() - started


def measure(say: Callable[[str], None], rows: int, rounds: int) -> None:
    """Run the benchmark and `say` its figures."""
    with tempfile.TemporaryDirectory(prefix="nnfleet-bench-") as folder:
        lake, hand, ours = (f"{folder}/{name}" for name in ("lake", "hand", "ours"))
        Path(lake).mkdir()
        duckdb.sql(MAKE.format(rows=rows, days=DAYS, lake=lake))
        size = sum(file.stat().st_size for file in Path(lake).rglob("*.parquet"))
        by_sql(lake, hand)
        by_narwhals(lake, ours)
        if any(found(hand, table) != found(ours, table) for table in TABLES):
            raise RuntimeError("the two rollups differ")
        cells = len(found(ours, "counts"))
        taken = [(cpu_s(by_sql, lake, hand), cpu_s(by_narwhals, lake, ours)) for _ in range(rounds)]
    sql_s, narwhals_s = (statistics.median(column) for column in zip(*taken, strict=True))
    ratio = statistics.median(operator.truediv(ours_s, hand_s) for hand_s, ours_s in taken)
    say(f"{rows:,} observations, {4 * rows:,} buckets, {cells:,} cells and days, {size / 2**20:,.0f} MiB of Parquet")
    say(f"SQL by hand: {sql_s:.2f} s CPU; Narwhals: {narwhals_s:.2f} s; the same numbers")
    say(f"Narwhals ÷ SQL: {ratio:.2f} × ({at_most(ratio, GOAL_RATIO, '×')})")
    for name, taken_s in (("SQL by hand", sql_s), ("Narwhals", narwhals_s)):
        rate = rows / taken_s
        say(f"{name}: {rate:,.0f} observations a CPU-second ({at_least(rate, GOAL_ROWS, 'a CPU-second')})")


def main() -> None:
    """The command line. A missed goal is printed, not an error: a shared machine is no judge."""
    parser = argparse.ArgumentParser(description="What a rollup of the lake costs, against SQL by hand.")
    parser.add_argument("--rows", type=int, default=2_000_000, help="observations")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of both ways, in turn")
    options = parser.parse_args()
    print(f"DuckDB {duckdb.__version__}; {machine()}")
    measure(print, options.rows, options.rounds)


if __name__ == "__main__":
    main()
