"""Every detector on simulated fleets with its fault planted at several sizes: how often it is found, and on healthy ones.

Run with `-s` to see the rates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import pytest
from fleets import CPU, DEVICES, DRIVER, FLOAT_NPU, NPU, Plant, changing, healthy_fleet, planted

from ml.findings import Device, find
from ml.rollup import Rollup

SEEDS: Final = range(4)


class Case(NamedTuple):
    """A fault: the name of its finding, and what it does to a fleet at a size."""

    name: str
    sizes: tuple[float, ...]
    plant: Callable[[list[Rollup], float], list[Rollup]]


def on_npu(plant: Callable[[float], Plant], arm: str = NPU) -> Callable[[list[Rollup], float], list[Rollup]]:
    return lambda rows, size: planted(rows, "soc-3", arm, plant(size))


def as_fast_as_the_cpu(rows: list[Rollup], factor: float) -> list[Rollup]:
    cpu = {(r.cell.group, r.cell.model, r.hot): r.log_p50_us for r in rows if r.cell.arm == CPU}

    def time(row: Rollup) -> float:
        return cpu[row.cell.group, row.cell.model, row.hot] + float(np.log(factor))

    return planted(rows, "soc-3", NPU, changing(log_p50_us=time))


def slow_float_and_integers(rows: list[Rollup], factor: float) -> list[Rollup]:
    """INT8 takes `factor` times as long as FP16."""
    float_us = {(r.cell.group, r.cell.model, r.hot): r.log_p50_us for r in rows if r.cell.arm == FLOAT_NPU}

    def time(row: Rollup) -> float:
        return float_us[row.cell.group, row.cell.model, row.hot] + float(np.log(factor))

    return planted(rows, "soc-3", NPU, changing(log_p50_us=time))


def in_pieces(rows: list[Rollup], factor: float) -> list[Rollup]:
    """Three pieces, 70 % of the nodes delegated, `factor` times the CPU's time."""
    return planted(as_fast_as_the_cpu(rows, factor), "soc-3", NPU, changing(partitions=3.0, delegated_share=0.7))


CASES: Final = (
    Case("phantom-acceleration", (1.0, 1.1), as_fast_as_the_cpu),
    Case("wrong-output", (1, 6), on_npu(lambda n: changing(golden_failed=int(n)))),
    Case(
        "thermal-step",
        (1.5, 1.8),
        on_npu(lambda f: changing(log_p50_us=lambda r: r.log_p50_us + np.log(f) * r.hot), DRIVER),
    ),
    Case("crash", (1, 3), on_npu(lambda n: changing(crashed=int(n)))),
    Case("hang", (1, 3), on_npu(lambda n: changing(timed_out=int(n)))),
    Case("wrong-executor", (4, 6), on_npu(lambda n: changing(on_cpu=int(n)), DRIVER)),
    Case(
        "accuracy-outlier",
        (5, 20),
        on_npu(lambda f: changing(golden_log_error=lambda r: r.golden_log_error + np.log(f))),
    ),
    Case("int8-slower", (1.4, 2.0), slow_float_and_integers),
    Case("partition-cost", (1.4, 3.0), in_pieces),
    Case("start-up-cost", (20, 100), on_npu(lambda f: changing(compile_us=lambda r: f * r.compile_us))),
)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_planted_fault_is_found_on_its_soc_and_seldom_elsewhere(case: Case) -> None:
    for size in case.sizes:
        found, elsewhere = [], []
        for seed in SEEDS:
            findings = find(case.plant(healthy_fleet(np.random.default_rng(seed)), size), DEVICES)
            found.append((case.name, "soc-3") in {(f.name, f.soc) for f in findings})
            elsewhere.append(any(f.soc != "soc-3" for f in findings))
        print(f"{case.name} at {size}: found in {np.mean(found):.0%}, alarms elsewhere in {np.mean(elsewhere):.0%}")
        assert np.mean(elsewhere) <= 0.1
    assert np.mean(found) >= 0.9


def test_healthy_fleets_of_any_size_seldom_raise_an_alarm() -> None:
    for models, windows in ((2, 2), (4, 6), (6, 40)):
        alarms = [
            bool(find(healthy_fleet(np.random.default_rng(s), models, windows), DEVICES)) for s in range(100, 108)
        ]
        print(f"healthy, {models} models, {windows} windows a cell: alarms in {np.mean(alarms):.0%} of {len(alarms)}")
        assert np.mean(alarms) <= 0.05


def slower_class(rows: list[Rollup], factor: float) -> list[Rollup]:
    """Every SoC gets a second class with the same cells; that of soc-3 takes `factor` times as long on the NPU."""

    def copy(row: Rollup) -> Rollup:
        slow = row.cell.group == "class-soc-3" and row.cell.arm.endswith(DRIVER)
        cell = row.cell._replace(group=f"new-{row.cell.group}")
        return replace(row, cell=cell, log_p50_us=row.log_p50_us + (float(np.log(factor)) if slow else 0.01))

    return [*rows, *map(copy, rows)]


@pytest.mark.parametrize(("factor", "expected"), [(1.0, set()), (1.5, {("driver-update-slower", "soc-3")})])
def test_a_driver_that_an_update_made_slower_is_found(factor: float, expected: set[tuple[str, str]]) -> None:
    target = NPU.split(".", 2)[-1]
    old = {name: replace(device, api_level=33, versions={target: "1.9"}) for name, device in DEVICES.items()}
    new = {f"new-{name}": replace(device, api_level=34, versions={target: "1.10"}) for name, device in DEVICES.items()}
    rows = slower_class(healthy_fleet(np.random.default_rng(0)), factor)
    assert {(finding.name, finding.soc) for finding in find(rows, old | new)} == expected


@pytest.mark.parametrize(("tier", "expected"), [(2.0, {("newer-but-slower", "next-soc-3")}), (1.0, set())])
def test_a_newer_chip_is_held_against_its_forerunner_of_the_same_tier(
    tier: float, expected: set[tuple[str, str]]
) -> None:
    old = {name: replace(device, vendor=device.soc, year=2023.0, tier=2.0) for name, device in DEVICES.items()}
    new = {f"new-{name}": Device(f"next-{device.soc}", device.soc, 2024.0, tier) for name, device in DEVICES.items()}
    rows = slower_class(healthy_fleet(np.random.default_rng(0)), 1.5)
    assert {(finding.name, finding.soc) for finding in find(rows, old | new)} == expected
