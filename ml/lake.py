"""The lake → rollups by day, as expressions that know no engine: Narwhals hands them to DuckDB here.

`observations` are the files that `nnfleet export lake` writes. What comes out equals the rollups that the service stores,
cell by cell (`service.store.rollups`): a quantile of the merged histogram has the relative error of its buckets, 1 %.
"""

from __future__ import annotations

from typing import Final

import duckdb
import narwhals as nw

KEYS: Final = ("day", "device_class", "app", "model", "arm", "workload", "hot")
HOT_STATUS: Final = 2
"""`THERMAL_STATUS_MODERATE`: from here on the phone throttles."""


def observations(lake: str, connection: duckdb.DuckDBPyConnection) -> nw.LazyFrame[duckdb.DuckDBPyRelation]:
    """All observations of a lake; `lake` is its folder, or a URL that DuckDB reads. Nothing is read yet."""
    path = f"{lake.rstrip('/')}/observations/*/*.parquet"
    return nw.from_native(connection.read_parquet(path, hive_partitioning=True))


def windows(frame: nw.LazyFrame[duckdb.DuckDBPyRelation]) -> nw.LazyFrame[duckdb.DuckDBPyRelation]:
    """Windows that may teach, with their situation."""
    return frame.filter(nw.col("set_aside").is_null(), nw.col("kind") == "window").with_columns(
        workload=nw.col("workload").fill_null("burst"), hot=nw.col("thermal_after").fill_null(0) >= HOT_STATUS
    )


def counts(learned: nw.LazyFrame[duckdb.DuckDBPyRelation]) -> nw.LazyFrame[duckdb.DuckDBPyRelation]:
    """One row for each cell, situation and day: windows, runs, golden checks and failures, as the stored rollup has them."""
    ran, checked = nw.col("run_count") > 0, nw.col("golden_checks") > 0
    return learned.group_by(*KEYS).agg(
        windows=nw.len(),
        measured=_number(ran),
        runs=nw.col("run_count").sum().cast(nw.Int64),
        golden_checked=_number(checked),
        golden_failed=_number(nw.col("golden_passed") < nw.col("golden_checks")),
        failed=_number((nw.col("run_count") == 0) & (nw.col("timeouts") == 0) & (nw.col("errors") != "{}")),
        timed_out=_number(nw.col("timeouts") > 0),
    )


def latencies(learned: nw.LazyFrame[duckdb.DuckDBPyRelation]) -> nw.LazyFrame[duckdb.DuckDBPyRelation]:
    """Runs by cell, situation, day and bucket: histograms merged by adding counts."""
    held = nw.col("histogram").struct
    return (
        learned.select(*KEYS, "histogram")
        .explode("histogram")
        .with_columns(bucket=held.field("bucket"), runs=held.field("count"))
        .filter(nw.col("runs") > 0)
        .group_by(*KEYS, "bucket")
        .agg(runs=nw.col("runs").sum().cast(nw.Int64))
    )


def _number(condition: nw.Expr) -> nw.Expr:
    return condition.fill_null(value=False).cast(nw.Int64).sum().cast(nw.Int64)
