"""Small fleets of rollups, healthy or with a fault planted, as the database gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from ml.findings import Device
from ml.rollup import Cell, Rollup

SOCS = [f"soc-{number}" for number in range(12)]
DEVICES = {f"class-{soc}": Device(soc) for soc in SOCS}
MODELS = [f"model-{number}" for number in range(12)]
NPU, FLOAT_NPU, CPU = "int8.tflite.nnapi.mtk-neuron", "fp16.tflite.nnapi.mtk-neuron", "int8.tflite.cpu"
RUNS = 40

DRIVER = ".mtk-neuron"

Plant = Callable[[Rollup], Rollup]


def healthy_fleet(rng: np.random.Generator, models: int = 6, windows: int = 6) -> list[Rollup]:
    """Every SoC runs every model on an NPU in INT8, 3 × as fast as its CPU, and in FP16, 1.7 × as fast.

    Hot windows take 5 % longer, a start costs as much as ten runs on the CPU, nothing fails.
    """
    return [row for soc in SOCS for model in MODELS[:models] for row in _model(rng, soc, model, windows)]


def _model(rng: np.random.Generator, soc: str, model: str, windows: int) -> Iterator[Rollup]:
    base = rng.normal(np.log(9_000), 0.6)
    speedup = rng.normal(np.log(3), 0.2)
    for arm, log_us in ((NPU, base - speedup), (FLOAT_NPU, base - speedup + rng.normal(0.55, 0.1)), (CPU, base)):
        for hot in (False, True):
            log_p50_us = float(log_us + 0.05 * rng.standard_normal() + 0.05 * hot)
            row = window_rollup(soc, model, arm, hot=hot, windows=windows, log_p50_us=log_p50_us)
            error = float(np.log(0.002 if arm == FLOAT_NPU else 0.02) + 0.2 * rng.standard_normal())
            yield replace(row, golden_log_error=error, compile_us=10 * float(np.exp(base)) if arm != CPU else 0.0)


def window_rollup(soc: str, model: str, arm: str, *, hot: bool, windows: int, log_p50_us: float) -> Rollup:
    """One situation of one cell, in which all went well."""
    return Rollup(
        Cell(f"class-{soc}", "app", model, arm),
        "sustained" if hot else "burst",
        hot,
        windows=windows,
        measured=windows,
        log_p50_us=log_p50_us,
        golden_checked=windows,
        attempts=windows,
        delegated_share=0.0 if arm == CPU else 1.0,
        runs=RUNS * windows,
        partitions=1.0,
        load_us=500.0,
        cold_share=0.3,
    )


def planted(rows: Iterable[Rollup], soc: str, arm: str, plant: Plant) -> list[Rollup]:
    """The fleet with something different about one SoC's arms, those whose id ends so."""
    return [plant(row) if row.cell.group == f"class-{soc}" and row.cell.arm.endswith(arm) else row for row in rows]


def changing(**changes: object) -> Plant:
    """A plant that sets fields; a callable is given the rollup."""

    def plant(row: Rollup) -> Rollup:
        return replace(row, **{name: value(row) if callable(value) else value for name, value in changes.items()})

    return plant
