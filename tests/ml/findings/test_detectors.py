"""Every detector on simulated fleets with its fault planted at several sizes: how often it is found, and on healthy ones.

A run ends with the table of rates. The largest size is the one that has to be found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import pytest
from fleets import CPU, DEVICES, DRIVER, FLOAT_NPU, NPU, Plant, changing, healthy_fleet, planted

from ml.findings import Device, find
from ml.rollup import Rollup

SEEDS: Final = range(4)


NoteRates = Callable[[str, str, str], None]


class Case(NamedTuple):
    """A fault: the name of its finding, and what it does to a fleet at a size."""

    name: str
    sizes: tuple[float, ...]
    plant: Callable[[list[Rollup], float], list[Rollup]]


def on_npu(plant: Callable[[float], Plant], arm: str = NPU) -> Callable[[list[Rollup], float], list[Rollup]]:
    return lambda rows, size: planted(rows, "soc-3", arm, plant(size))


def some(share: float) -> int | Callable[[Rollup], int]:
    """So many of a cell's windows; below 1, one window of that share of the cells."""
    if share >= 1:
        return int(share)
    return lambda row: int(hash_share(row) < share)


def hash_share(row: Rollup) -> float:
    """0 to 1, the same for a cell and situation each time."""
    digest = hashlib.sha256(f"{row.cell}{row.hot}".encode()).digest()
    return int.from_bytes(digest[:4]) / 2**32


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
    Case("phantom-acceleration", (0.8, 1.0, 1.1), as_fast_as_the_cpu),
    Case("wrong-output", (0.2, 1, 6), on_npu(lambda n: changing(golden_failed=some(n)))),
    Case(
        "thermal-step",
        (1.2, 1.5, 1.8),
        on_npu(lambda f: changing(log_p50_us=lambda r: r.log_p50_us + np.log(f) * r.hot), DRIVER),
    ),
    Case("crash", (0.1, 1, 3), on_npu(lambda n: changing(crashed=some(n)))),
    Case("hang", (0.1, 1, 3), on_npu(lambda n: changing(timed_out=some(n)))),
    Case("wrong-executor", (2, 4, 6), on_npu(lambda n: changing(on_cpu=int(n)), DRIVER)),
    Case(
        "accuracy-outlier",
        (3, 5, 20),
        on_npu(lambda f: changing(golden_log_error=lambda r: r.golden_log_error + np.log(f))),
    ),
    Case("int8-slower", (1.1, 1.4, 2.0), slow_float_and_integers),
    Case("partition-cost", (1.1, 1.4, 3.0), in_pieces),
    Case("start-up-cost", (8, 20, 100), on_npu(lambda f: changing(compile_us=lambda r: f * r.compile_us))),
)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_planted_fault_is_found_on_its_soc_and_seldom_elsewhere(case: Case, note_rates: NoteRates) -> None:
    for size in case.sizes:
        found, elsewhere = [], []
        for seed in SEEDS:
            findings = find(case.plant(healthy_fleet(np.random.default_rng(seed)), size), DEVICES)
            found.append((case.name, "soc-3") in {(f.name, f.soc) for f in findings})
            elsewhere.append(any(f.soc != "soc-3" for f in findings))
        note_rates(
            case.name, f"at {size:g}", f"found {np.mean(found):4.0%}, alarms elsewhere {np.mean(elsewhere):3.0%}"
        )
        assert np.mean(elsewhere) <= 0.1
    assert np.mean(found) >= 0.9


def test_healthy_fleets_of_any_size_seldom_raise_an_alarm(note_rates: NoteRates) -> None:
    for models, windows in ((2, 2), (4, 6), (6, 40)):
        alarms = [
            bool(find(healthy_fleet(np.random.default_rng(s), models, windows), DEVICES)) for s in range(100, 108)
        ]
        note_rates(
            "healthy", f"{models} models × {windows} windows", f"alarms {np.mean(alarms):.0%} of {len(alarms)} fleets"
        )
        assert np.mean(alarms) <= 0.05


def one_model_on(rows: list[Rollup], chips: int) -> list[Rollup]:
    """So many SoCs get one model's INT8 wrong."""
    wrong = {f"class-soc-{number}" for number in range(chips)}

    def plant(row: Rollup) -> Rollup:
        here = row.cell.group in wrong and row.cell.model == "model-2" and row.cell.arm == NPU
        return replace(row, golden_failed=row.golden_checked) if here else row

    return [plant(row) for row in rows]


def test_a_fault_of_one_model_on_many_chips_is_told_from_a_fault_of_drivers(note_rates: NoteRates) -> None:
    """LN-02. On a few chips of twelve it stays the fault of their drivers, each with a finding of its own."""
    name = "model-wrong-output"
    for chips in (2, 4, 5, 6, 12):
        seen = [
            {(f.name, f.soc) for f in find(one_model_on(healthy_fleet(np.random.default_rng(s)), chips), DEVICES)}
            for s in SEEDS
        ]
        found = [(name, "*") in findings for findings in seen]
        drivers = {("wrong-output", f"soc-{number}") for number in range(chips)}
        elsewhere = [bool(findings - drivers - {(name, "*")}) for findings in seen]
        note_rates(
            name, f"{chips} of 12 SoCs", f"found {np.mean(found):4.0%}, alarms elsewhere {np.mean(elsewhere):3.0%}"
        )
        assert np.mean(elsewhere) <= 0.1
        assert all(bool(findings & drivers) != model for findings, model in zip(seen, found, strict=True))
        if chips != 5:
            assert np.mean(found) == (chips > 5)


def lists(*drivers: str) -> frozenset[str]:
    return frozenset(f"nnapi.{name}" for name in drivers)


@pytest.mark.parametrize(("lost", "expected"), [(0, set()), (1, set()), (4, {("accelerator-vanished", "soc-3")})])
def test_a_driver_that_reports_do_not_list_any_more_is_found(
    lost: int, expected: set[tuple[str, str]], note_rates: NoteRates
) -> None:
    """Ten reports of every phone under Android 14; `lost` of those of one SoC came without its driver."""
    both = lists("mtk-neuron", "mtk-mdla")
    before = {
        f"{name}-13": replace(d, api_level=33, phone=name, drivers=both, reports=10) for name, d in DEVICES.items()
    }
    after = {f"{name}-14": replace(d, api_level=34) for name, d in before.items()}
    without = replace(after["class-soc-3-13-14"], drivers=lists("mtk-mdla"), reports=lost)
    after["class-soc-3-13-14"] = replace(after["class-soc-3-13-14"], reports=10 - lost)
    devices = before | after | ({"class-soc-3-lost": without} if lost else {})
    findings = find([], devices)
    note_rates("accelerator-vanished", f"{lost} of 10 reports", f"found {len(findings)} of {len(expected)}")
    assert {(finding.name, finding.soc) for finding in findings} == expected
    for finding in findings:
        assert (finding.target, finding.classes, dict(finding.quarantine)) == ("nnapi.mtk-neuron", 1, {})
        assert finding.evidence[0]["device_class"] == "class-soc-3-lost"


def test_older_phones_than_the_first_that_had_a_driver_do_not_miss_it() -> None:
    old = {f"old-{name}": replace(d, api_level=29, phone=name, reports=9) for name, d in DEVICES.items()}
    new = {name: replace(d, api_level=33, phone=name, drivers=lists("mtk-neuron")) for name, d in DEVICES.items()}
    assert find([], old | new) == []


def test_a_driver_that_is_switched_off_needs_no_time_before() -> None:
    off = {f"off-{n}": Device("soc-3", api_level=33, phone=f"phone-{n}", switched_off=True) for n in range(3)}
    [finding] = find([], dict(DEVICES) | off)
    assert (finding.name, finding.soc, finding.classes) == ("driver-switched-off", "soc-3", 3)
    assert not finding.may_quarantine


def with_successors(tier: float) -> dict[str, Device]:
    """Every SoC has a successor of that tier a year later."""
    old = {name: replace(device, vendor=device.soc, year=2023.0, tier=2.0) for name, device in DEVICES.items()}
    return old | {
        f"new-{name}": Device(f"next-{device.soc}", device.soc, 2024.0, tier) for name, device in DEVICES.items()
    }


def successors(rng: np.random.Generator, chip: float, driver: float) -> list[Rollup]:
    """Successors take `chip` times as long on all that they have, give or take 10 % a model; next-soc-3's driver `driver`
    times that.
    """
    rows = healthy_fleet(rng)
    spread = {(r.cell.group, r.cell.model): float(np.exp(0.1 * rng.standard_normal())) for r in rows}

    def later(row: Rollup) -> Rollup:
        factor = chip * spread[row.cell.group, row.cell.model]
        factor *= driver if row.cell.group == "class-soc-3" and row.cell.arm.endswith(DRIVER) else 1.0
        cell = row.cell._replace(group=f"new-{row.cell.group}")
        return replace(row, cell=cell, log_p50_us=row.log_p50_us + float(np.log(factor)))

    return [*rows, *map(later, rows)]


@pytest.mark.parametrize("chip", [0.7, 1.0, 1.5])
def test_a_driver_that_falls_behind_its_own_newer_chip_is_found_and_a_chip_that_is_slower_throughout_is_not(
    chip: float, note_rates: NoteRates
) -> None:
    devices = with_successors(tier=2.0)
    for driver in (1.0, 1.25, 1.6, 2.0):
        found = [
            {(f.name, f.soc) for f in find(successors(np.random.default_rng(seed), chip, driver), devices)}
            for seed in SEEDS
        ]
        hits = [("newer-but-slower", "next-soc-3") in names for names in found]
        elsewhere = [bool(names - {("newer-but-slower", "next-soc-3")}) for names in found]
        note_rates(
            "newer-but-slower", f"{driver:g} on a chip of {chip:g}",
            f"found {np.mean(hits):4.0%}, alarms elsewhere {np.mean(elsewhere):3.0%}",
        )  # fmt: skip
        assert np.mean(elsewhere) <= 0.1
        # A driver that its new chip outweighs is hardly slower than before: nobody would miss anything.
        if chip < 1 or driver <= 1.25:
            assert np.mean(hits) <= 0.1
        elif driver >= 2:
            assert np.mean(hits) >= 0.9


def test_a_newer_chip_is_held_against_its_forerunner_of_the_same_tier_only() -> None:
    rows = successors(np.random.default_rng(0), 1.0, 2.0)
    assert {(f.name, f.soc) for f in find(rows, with_successors(tier=2.0))} == {("newer-but-slower", "next-soc-3")}
    assert find(rows, with_successors(tier=1.0)) == []


def test_one_model_in_many_files_is_one_witness() -> None:
    """Two precisions of one model on one driver tell of the model, not of the driver."""
    rows = [row for row in successors(np.random.default_rng(0), 1.0, 2.0) if row.cell.model == "model-0"]
    assert find(rows, with_successors(tier=2.0)) == []
