"""The lake → what the learner and the detectors read of a cell (`ml.rollup.Rollup`), over all days, on any engine.

Means are quotients of whole numbers: sums of fractions would hang on the order in which an engine adds them up.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Final

import narwhals as nw

from ml.lake import COUNTS, KEYS, Frame, number, total, windows
from policies.screen import GAMMA

CELL: Final = KEYS[1:]
MICRO: Final = 1_000_000
"""Shares and logarithms are added up in millionths."""
ON_CPU: Final = "xnnpack|cpu|reference"
_LOG_GAMMA: Final = math.log(GAMMA)
_LOG_VALUE: Final = math.log(2 / (GAMMA + 1))
"""Logarithm of what a bucket stands for, in units of its upper edge."""

_MEANS: Final = {
    "delegated_share": ("delegated_micro", "delegated_windows", MICRO),
    "partitions": ("partitions_sum", "split_windows", 1),
    "golden_log_error": ("log_error_micro", "error_windows", MICRO),
    "load_us": ("load_us_sum", "loaded", 1),
    "compile_us": ("compile_us_sum", "compiled", 1),
    "cold_share": ("compiled", "loaded", 1),
    "log_memory_kb": ("log_memory_micro", "memory_windows", MICRO),
}
"""Mean → its sum, what it is a mean over, parts of one that the sum is in."""


def features(observations: Frame, crashed_before: datetime) -> Frame:
    """One row for each cell and situation. `crashed_before`: a start before it that no window followed is a crash."""
    learned = _told(windows(observations))
    summed = nw.concat([_sums(learned), _starts(observations, crashed_before)], how="diagonal")
    counted = [name for name in summed.collect_schema().names() if name not in CELL]
    cells = summed.group_by(*CELL).agg(*(total(nw.col(name)) for name in counted))
    means = [_mean(*parts).alias(name) for name, parts in _MEANS.items()]
    seen = ("windows", "measured", "runs", "golden_checked", "golden_failed", "failed", "timed_out", "on_cpu")
    cold = nw.col("cold_share")
    return (
        cells.join(_medians(learned), on=list(CELL), how="left")
        .select(*CELL, *seen, "attempts", "crashed", nw.col("log_p50_us").fill_null(0.0), *means)
        # A window may tell of compiling and not of loading.
        .with_columns(cold_share=nw.when(cold > 1).then(1.0).otherwise(cold))
    )


def _told(learned: Frame) -> Frame:
    """Windows with what is added up of each; null where a window does not say."""
    nodes, error, memory = (nw.col(name) for name in ("total_nodes", "golden_max_rel_error", "memory_peak_kb"))
    share = nw.col("delegated_nodes") / nodes
    return learned.with_columns(
        on_cpu=nw.col("executed_by").str.to_lowercase().str.contains(ON_CPU),
        delegated_micro=_micro(nw.when(nodes > 0).then(share)),
        log_error_micro=_micro(nw.when(error > 0).then(error).log()),
        log_memory_micro=_micro(nw.when(memory > 0).then(memory.cast(nw.Float64)).log()),
        cold_us=nw.when(~nw.col("cache_hit").fill_null(value=False)).then(nw.col("compile_us")),
    )


def _sums(learned: Frame) -> Frame:
    return learned.group_by(*CELL).agg(
        *COUNTS,
        number((nw.col("run_count") > 0) & nw.col("on_cpu")).alias("on_cpu"),
        *_of_known("delegated_windows", "delegated_micro", "delegated_micro"),
        *_of_known("split_windows", "partitions_sum", "partitions"),
        *_of_known("error_windows", "log_error_micro", "log_error_micro"),
        *_of_known("loaded", "load_us_sum", "load_us"),
        *_of_known("compiled", "compile_us_sum", "cold_us"),
        *_of_known("memory_windows", "log_memory_micro", "log_memory_micro"),
    )


def _of_known(windows_with: str, its_sum: str, column: str) -> tuple[nw.Expr, nw.Expr]:
    """How many windows say a number, and what it comes to."""
    known = nw.col(column)
    return number(~known.is_null()).alias(windows_with), total(known).alias(its_sum)


def _starts(observations: Frame, crashed_before: datetime) -> Frame:
    """Starts by cell, and those that no window followed, on whatever day it came."""
    followed = observations.filter(nw.col("kind") == "window", ~nw.col("attempt_id").is_null()).select("attempt_id")
    starts = observations.filter(nw.col("set_aside").is_null(), nw.col("kind") == "attempt").with_columns(
        workload=nw.col("workload").fill_null("burst"), heat=nw.lit("cool")
    )
    ended = followed.unique().with_columns(followed=nw.lit(value=True))
    joined = starts.drop("attempt_id").join(ended, left_on="record_id", right_on="attempt_id", how="left")
    crashed = nw.col("followed").is_null() & (nw.col("received_at") <= crashed_before)
    return joined.group_by(*CELL).agg(nw.len().cast(nw.Int64).alias("attempts"), number(crashed).alias("crashed"))


def _medians(learned: Frame) -> Frame:
    """Median of the logarithms of windows' medians: of what their buckets stand for, the mean of the middle two."""
    bucket = ((nw.col("latency_p50_us") * ((GAMMA + 1) / 2)).log() / _LOG_GAMMA).round().cast(nw.Int64)
    held = (
        learned.filter(nw.col("run_count") > 0, nw.col("latency_p50_us") > 0)
        .with_columns(bucket=bucket)
        .group_by(*CELL, "bucket")
        .agg(held=nw.len().cast(nw.Int64))
        .with_columns(upto=nw.col("held").cum_sum().over(*CELL, order_by="bucket"), of=nw.col("held").sum().over(*CELL))
    )
    middle = held.group_by(*CELL).agg(
        nw.when(2 * nw.col("upto") >= nw.col("of")).then(nw.col("bucket")).min().alias("low"),
        nw.when(2 * nw.col("upto") > nw.col("of")).then(nw.col("bucket")).min().alias("high"),
    )
    return middle.select(*CELL, log_p50_us=_LOG_VALUE + _LOG_GAMMA * (nw.col("low") + nw.col("high")) / 2)


def _mean(its_sum: str, over: str, parts: int) -> nw.Expr:
    return nw.when(nw.col(over) > 0).then(nw.col(its_sum).cast(nw.Float64) / nw.col(over) / parts)


def _micro(value: nw.Expr) -> nw.Expr:
    return (value * MICRO).round().cast(nw.Int64)
