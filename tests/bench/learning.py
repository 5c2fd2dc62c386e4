"""What learning costs: `python -m tests.bench.learning [--most 100]`.

Fit and predict of the latency model on AI Hub's table, CPU of one thread and peak memory, each size in a process of its
own; beside it scikit-learn's ridge regression on the same rows, one column a chipset, model, arm and model with arm. And what
it takes to say where a fleet that measured the table explores next.

1 × is the table, about 12,000 cells. 10 × has ten times its models, each under ten names with latencies that differ.
100 × is that table with ten reports of every cell: a fleet's data grow by reports, and reports of a cell are one
measurement to the model, with a tenth of the noise (`ml.measured.merged`).
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

import ml.datasets
from ml.explore import explore
from ml.latency import LatencyModel
from ml.protocols import hidden
from ml.recommend import recommend
from ml.table import Numbers, Table, decision_subset, read_table
from tests.bench.goals import at_most
from tests.bench.stage import machine

AIHUB: Final = Path(ml.datasets.__file__).parent / "aihub.parquet"
SIZES: Final = {1: (1, 1), 10: (10, 1), 100: (10, 10)}
"""Size → how many names each model comes under, how many reports each cell has."""
GOAL_S: Final = 5.0
GOAL_GROWTH: Final = 12.0
GOAL_MB: Final = 512.0


class Cost(NamedTuple):
    """Rows, CPU seconds of our fit and predict and of the ridge's, and peak memory of ours (MiB)."""

    rows: int
    fit_s: float
    predict_s: float
    ridge_s: float
    peak_mb: float


def grown(table: Table, names: int, reports: int) -> tuple[Table, Numbers]:
    """The table with each model under several names, and log latencies of several reports of every cell."""
    rng = np.random.default_rng(0)
    copy = np.repeat(np.arange(names), len(table))
    many = table.take(np.tile(np.arange(len(table)), names))
    columns = dict(many.columns)
    for name in ("model", "family"):
        columns[name] = np.char.add(np.char.add(columns[name], "~"), copy.astype(np.str_))
    level = rng.normal(0, 0.3, (names, len(np.unique(table.model))))
    shift = level[copy, np.tile(np.unique(table.model, return_inverse=True)[1], names)] * (copy > 0)
    columns["latency_ms"] = many.latency_ms * np.exp(shift)
    heard = Table.of(columns).take(np.tile(np.arange(len(many)), reports))
    return heard, heard.log_ms + rng.normal(0, 0.04, len(heard)) * (reports > 1)


def cost(names: int, reports: int) -> Cost:
    """Both methods on one size."""
    table, log_ms = grown(decision_subset(read_table(AIHUB)), names, reports)
    cells = hidden(table.take(np.arange(len(table) // reports)))
    with threadpool_limits(1):
        started = time.process_time()
        model = LatencyModel().fit(table, log_ms)
        fitted = time.process_time()
        model.predict(cells, return_std=True)
        predicted = time.process_time()
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        ridge_started = time.process_time()
        _ridge(table, log_ms, cells)
        ridge_s = time.process_time() - ridge_started
    return Cost(len(table), fitted - started, predicted - fitted, ridge_s, peak_mb)


def exploring() -> float:
    """CPU seconds to say where a fleet that measured the table should look next."""
    table = decision_subset(read_table(AIHUB))
    with threadpool_limits(1):
        rankings = recommend(table, hidden(table), reports=np.ones(len(table), np.intp))
        started = time.process_time()
        explore(rankings)
    return time.process_time() - started


def _ridge(table: Table, log_ms: Numbers, cells: Table) -> Numbers:
    encoder = OneHotEncoder()
    known = encoder.fit_transform(_columns(table))
    return np.asarray(Ridge(alpha=0.1).fit(known, log_ms).predict(encoder.transform(_columns(cells))))


def _columns(table: Table) -> np.ndarray[tuple[int, int], np.dtype[np.str_]]:
    both = np.char.add(np.char.add(table.model, "|"), table.arm)
    return np.column_stack([table.chipset, table.model, table.arm, both])


def main() -> None:
    """Print a line a size, and the goals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=100, choices=sorted(SIZES), help="the largest size to run")
    most = parser.parse_args().most
    print(machine())
    costs: dict[int, Cost] = {}
    for size in (size for size in SIZES if size <= most):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as alone:
            costs[size] = one = alone.submit(cost, *SIZES[size]).result()
        print(
            f"{size:4} ×: {one.rows:9,} rows  fit {one.fit_s:6.2f} s  predict {one.predict_s:6.2f} s  "
            f"peak {one.peak_mb:6.0f} MiB  ridge {one.ridge_s:6.2f} s  "
            f"ours ÷ ridge {(one.fit_s + one.predict_s) / one.ridge_s:5.1f}"
        )
    first = costs[1].fit_s + costs[1].predict_s
    print(f"fit and predict of the table: {first:.2f} CPU s, {at_most(first, GOAL_S, 's')}")
    print(f"where to explore next: {exploring():.2f} CPU s more")
    print(f"peak memory on the table: {costs[1].peak_mb:.0f} MiB, {at_most(costs[1].peak_mb, GOAL_MB, 'MiB')}")
    if 10 in costs:
        growth = (costs[10].fit_s + costs[10].predict_s) / first
        print(f"ten times the cells: {growth:.1f} times the CPU, {at_most(growth, GOAL_GROWTH, 'times')}")


if __name__ == "__main__":
    main()
