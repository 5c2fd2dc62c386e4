"""The lake → rollups by day, as expressions that know no engine: `ml.lake_engines` hands them to DuckDB or to Spark.

`observations` are the files that `nnfleet export lake` writes. What comes out equals the rollups that the service stores,
cell by cell (`service.store.rollups`): a quantile of the merged histogram has the relative error of its buckets, 1 %.
"""

from __future__ import annotations

from typing import Any, Final

import narwhals as nw

from policies.screen import CLOCK_FAULTS

KEYS: Final = ("day", "device_class", "app", "model", "arm", "workload", "heat")
HOT_STATUS: Final = 2
"""`THERMAL_STATUS_MODERATE`: from here on the phone throttles."""

Frame = nw.LazyFrame[Any]
"""A table of some engine, of which nothing is read before it is asked for."""


def windows(observations: Frame) -> Frame:
    """Windows that may teach, with their situation."""
    believed = nw.col("set_aside").is_null() | nw.col("set_aside").is_in(CLOCK_FAULTS)
    return observations.filter(believed, nw.col("kind") == "window").with_columns(
        workload=nw.col("workload").fill_null("burst"), heat=_heat(nw.col("thermal_after"))
    )


def _heat(thermal: nw.Expr) -> nw.Expr:
    said = nw.when(thermal >= HOT_STATUS).then(nw.lit("hot")).otherwise(nw.lit("cool"))
    return nw.when(thermal.is_null()).then(nw.lit("unknown")).otherwise(said)


def counts(learned: Frame) -> Frame:
    """One row for each cell, situation and day: windows, runs, golden checks and failures, as the stored rollup has them."""
    return learned.group_by(*KEYS).agg(*COUNTS)


def latencies(learned: Frame) -> Frame:
    """Runs by cell, situation, day and bucket: histograms merged by adding counts."""
    held = nw.col("histogram").struct
    return (
        learned.select(*KEYS, "histogram")
        .explode("histogram", empty_as_null=False, keep_nulls=False)
        .with_columns(bucket=held.field("bucket"), runs=held.field("count"))
        .filter(nw.col("runs") > 0)
        .group_by(*KEYS, "bucket")
        .agg(runs=nw.col("runs").sum().cast(nw.Int64))
    )


def number(condition: nw.Expr) -> nw.Expr:
    """Of how many rows a condition holds; of one that is unknown it does not."""
    return condition.fill_null(value=False).cast(nw.Int64).sum().cast(nw.Int64)


def total(column: nw.Expr) -> nw.Expr:
    """The sum of integers, 0 of none, in 64 bits whatever an engine makes of sums."""
    return column.sum().cast(nw.Int64)


COUNTS: Final = (
    nw.len().cast(nw.Int64).alias("windows"),
    number(nw.col("run_count") > 0).alias("measured"),
    total(nw.col("run_count")).alias("runs"),
    number(nw.col("golden_checks") > 0).alias("golden_checked"),
    number(nw.col("golden_passed") < nw.col("golden_checks")).alias("golden_failed"),
    number((nw.col("run_count") == 0) & (nw.col("timeouts") == 0) & (nw.col("errors") != "{}")).alias("failed"),
    number(nw.col("timeouts") > 0).alias("timed_out"),
)
