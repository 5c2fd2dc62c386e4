"""Updates that made something slower, of drivers and of runtimes, planted at several sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
from fleets import DEVICES, DRIVER, NPU, healthy_fleet

from ml.findings import Device, devices_of, find
from ml.rollup import Rollup
from policies.fingerprint import fingerprint
from policies.report import report_of

SEEDS: Final = range(4)

NoteRates = Callable[[str, str, str], None]


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


def with_a_runtime_update(old: str, new: str, **changes: Any) -> dict[str, Device]:
    """Every SoC has two classes that differ in the version of LiteRT, and `changes` of the newer one."""
    before = {name: replace(device, api_level=33, runtimes={"litert": old}) for name, device in DEVICES.items()}
    after = {f"new-{n}": replace(device, runtimes={"litert": new}, **changes) for n, device in before.items()}
    return before | after


def test_a_runtime_that_the_store_made_slower_is_found(note_rates: NoteRates) -> None:
    """RG-04: the same phones with the same firmware, before and after a store's update of the runtime."""
    devices = with_a_runtime_update("22.9.15", "22.26.15")
    for factor in (1.0, 1.15, 1.4, 2.0):
        seen = [
            {(f.name, f.soc) for f in find(slower_class(healthy_fleet(np.random.default_rng(seed)), factor), devices)}
            for seed in SEEDS
        ]
        found = [("runtime-update-slower", "soc-3") in findings for findings in seen]
        elsewhere = [bool(findings - {("runtime-update-slower", "soc-3")}) for findings in seen]
        note_rates(
            "runtime-update-slower", f"at {factor:g}",
            f"found {np.mean(found):4.0%}, alarms elsewhere {np.mean(elsewhere):3.0%}",
        )  # fmt: skip
        assert np.mean(elsewhere) <= 0.1
        if factor != 1.4:
            assert np.mean(found) == (factor > 1.4)


def test_a_runtime_that_got_slower_on_the_cpu_too_denies_nobody_the_cpu() -> None:
    rows = slower_class(healthy_fleet(np.random.default_rng(0)), 2.0)
    found = find(rows, with_a_runtime_update("2.0.0", "2.1.0"))
    slower = [finding for finding in found if finding.name == "runtime-update-slower"]
    assert slower
    assert not any(finding.quarantine for finding in slower)


def test_a_runtime_that_got_faster_again_is_no_finding() -> None:
    """Numbers, not letters: 22.9 came before 22.26."""
    rows = slower_class(healthy_fleet(np.random.default_rng(0)), 2.0)
    assert find(rows, with_a_runtime_update("22.26.15", "22.9.15")) == []


def test_a_runtime_is_compared_under_one_android_and_a_driver_under_one_runtime() -> None:
    """What changed at once with something else may owe its slowness to that."""
    target = NPU.split(".", 2)[-1]
    rows = slower_class(healthy_fleet(np.random.default_rng(0)), 2.0)
    assert find(rows, with_a_runtime_update("2.0.0", "2.1.0", api_level=34)) == []
    both = with_a_runtime_update("2.0.0", "2.1.0", api_level=34, versions={target: "1.10"})
    old = {name: replace(device, versions={target: "1.9"}) for name, device in both.items() if name in DEVICES}
    assert find(rows, both | old) == []
    same = {name: replace(device, runtimes={"litert": "2.1.0"}) for name, device in (both | old).items()}
    assert {(finding.name, finding.soc) for finding in find(rows, same)} == {("driver-update-slower", "soc-3")}


def test_a_phone_that_names_two_versions_of_a_runtime_tells_none() -> None:
    body = {"schema": 1, "device": {"manufacturer": "x", "model": "y", "api_level": 33}}
    one, two = (
        fingerprint(report_of(body | {"runtimes": runtimes}))
        for runtimes in (
            {"play-services-tflite": "loaded 22.26.15"},
            {"play-services-tflite": "loaded 22.26.15", "litert": "loaded 2.1.0"},
        )
    )
    devices = devices_of([one, two])
    assert devices[one.device_class].runtime_of(NPU) == "22.26.15"
    assert devices[two.device_class].runtime_of(NPU) is None
    assert devices[one.device_class].runtime_of("my-own-arm") is None
