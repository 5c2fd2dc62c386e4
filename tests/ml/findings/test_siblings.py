"""Phones that share a SoC's name and not its number: what fails on one of them is of that one, and of its driver's version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from fleets import CPU, DEVICES, FLOAT_NPU, MODELS, NPU, healthy_fleet

from ml.findings import Device, devices_of, find
from ml.findings.finding import Finding
from ml.rollup import Rollup
from policies.fingerprint import fingerprint
from policies.report import report_of

SEEDS: Final = range(4)
TARGET: Final = NPU.split(".", 2)[-1]
USUAL, SIBLING = "class-soc-3", "sibling"

NoteRates = Callable[[str, str, str], None]


def family(**sibling: object) -> dict[str, Device]:
    """Every SoC has three classes of the usual number; one has a sibling's number too."""
    usual = {name: replace(device, soc_id=618, versions={TARGET: "2.42"}) for name, device in DEVICES.items()}
    more = {f"{name}-{number}": device for name, device in usual.items() for number in (2, 3)}
    return usual | more | {SIBLING: replace(usual[USUAL], **{"soc_id": 639, "versions": {TARGET: "2.48"}, **sibling})}


def family_fleet(rng: np.random.Generator) -> list[Rollup]:
    """The same cells on all of them, a class and its siblings alike."""
    rows = healthy_fleet(rng)
    copies = [replace(row, cell=row.cell._replace(group=f"{row.cell.group}-{n}")) for row in rows for n in (2, 3)]
    return [*rows, *copies, *(of_class(row, SIBLING) for row in rows if row.cell.group == USUAL)]


def of_class(row: Rollup, name: str) -> Rollup:
    return replace(row, cell=row.cell._replace(group=name))


def not_running(rows: Iterable[Rollup], models: Sequence[str], group: str = SIBLING) -> list[Rollup]:
    """A vendor's runtime that does not know the chip: these models do not run on its driver at all."""
    return [
        replace(row, failed=row.windows, measured=0)
        if row.cell.group == group and row.cell.model in models and row.cell.arm != CPU
        else row
        for row in rows
    ]


def of_soc(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.soc == "soc-3"]


def test_a_driver_that_does_not_run_on_a_sibling_is_found_there_and_nowhere_else(note_rates: NoteRates) -> None:
    """FP-07: a number that the runtime does not know yet, on one sibling of a family whose others are well."""
    for models in (0, 1, 3, 6):
        seen = [
            find(not_running(family_fleet(np.random.default_rng(seed)), MODELS[:models]), family()) for seed in SEEDS
        ]
        found = [any(finding.name == "does-not-run" for finding in of_soc(findings)) for findings in seen]
        elsewhere = [len(of_soc(findings)) < len(findings) for findings in seen]
        note_rates(
            "does-not-run",
            f"{models} of 6 models",
            f"found {np.mean(found):4.0%}, alarms elsewhere {np.mean(elsewhere):3.0%}",
        )
        assert np.mean(elsewhere) <= 0.1
        if models != 3:
            assert np.mean(found) == (models > 3)


def test_the_quarantine_names_the_number_and_the_version_and_not_the_family() -> None:
    [found] = find(not_running(family_fleet(np.random.default_rng(0)), MODELS), family())
    assert dict(found.of) == {"soc_id": "639", "version": "2.48"}
    assert found.quarantine == {"soc": "soc-3", "target": TARGET, "soc_id": "639", "version": "2.48"}
    assert found.classes == 1
    assert found.control is not None
    assert (found.control.failed, found.control.control_failed) == (12, 0)


def test_a_driver_that_runs_nowhere_is_no_matter_of_siblings() -> None:
    rows = family_fleet(np.random.default_rng(0))
    for group in (USUAL, f"{USUAL}-2", f"{USUAL}-3", SIBLING):
        rows = not_running(rows, MODELS, group)
    [found] = find(rows, family())
    assert (found.of, found.quarantine, found.classes) == ({}, {"soc": "soc-3", "target": TARGET}, 4)


def test_what_a_sibling_gets_wrong_or_dies_of_is_quarantined_on_it_alone() -> None:
    rows = [
        replace(row, crashed=row.attempts) if row.cell.group == SIBLING and row.cell.arm == FLOAT_NPU else row
        for row in family_fleet(np.random.default_rng(1))
    ]
    [crash] = find(rows, family())
    assert crash.quarantine == {
        "soc": "soc-3", "target": TARGET, "precision": "fp16", "soc_id": "639", "version": "2.48"
    }  # fmt: skip
    [same_version] = find(rows, family(versions={TARGET: "2.42"}))
    assert same_version.quarantine["soc_id"] == "639"
    [same_number] = find(rows, family(soc_id=618))
    assert same_number.quarantine["version"] == "2.48"


def test_siblings_are_told_by_the_kernels_number_and_the_runtimes_version() -> None:
    body = {"schema": 1, "device": {"manufacturer": "x", "model": "y", "api_level": 33, "soc_model": "SM8750"}}
    told = fingerprint(
        report_of(body | {"device": body["device"] | {"soc_id": 639}, "runtimes": {"qnn": "loaded 2.48.0"}})
    )
    [device] = devices_of([told]).values()
    assert device.sibling("qnn") == {"soc_id": "639", "version": "2.48.0"}
    assert device.sibling("gpu") == {"soc_id": "639", "version": ""}
    [silent] = devices_of([fingerprint(report_of(body))]).values()
    assert silent.sibling("qnn") == {"soc_id": "", "version": ""}
