"""The device matrix: what the devices with most use support, how fast and how right their arms are. Gaps are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Final

from ml.findings.finding import precision_of, target_of
from ml.fleet_posterior import CLASS_VARIANCE, REPORT_VARIANCE
from ml.rollup import Cell, CellSummary, Rollup, summaries
from policies.figures import plain
from policies.fingerprint import Fingerprint
from policies.operations import SIGNED_INT8, UNSIGNED_INT8

MISSING: Final = "not measured"
REFUSED: Final = "not supported"
ELEMENT_OF_OPERAND: Final = {
    "TENSOR_FLOAT32": "float32", "TENSOR_FLOAT16": "float16", "TENSOR_INT32": "int32", "TENSOR_BOOL8": "bool",
    UNSIGNED_INT8: "uint8", SIGNED_INT8: "int8",
}  # fmt: skip
Z_95: Final = 1.96


@dataclass(frozen=True)
class Grid:
    """A table: a cell for every row and column, "not measured" where nothing is known."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def busiest(rollups: Iterable[Rollup], fingerprints: Iterable[Fingerprint], count: int = 10) -> list[Fingerprint]:
    """Device classes with most windows, the busiest first."""
    windows = Counter[str]()
    for row in rollups:
        windows[row.cell.group] += row.windows
    return sorted(fingerprints, key=lambda f: (-windows[f.device_class], f.device_class))[:count]


def matrix(devices: Sequence[Fingerprint], rollups: Iterable[Rollup]) -> tuple[Grid, Grid, Grid]:
    """Operation support, latency by arm and accuracy by precision, of the devices."""
    wanted = {device.device_class for device in devices}
    cells = summaries(row for row in rollups if row.cell.group in wanted)
    return _operations(devices), _latencies(devices, cells), _accuracies(devices, cells)


def device_name(device: Fingerprint) -> str:
    """What a person calls it."""
    return f"{device.manufacturer} {device.model}, {device.soc or 'unknown SoC'}, API {device.api_level}"


def _operations(devices: Sequence[Fingerprint]) -> Grid:
    drivers = [(device, driver) for device in devices for driver in device.accelerators if not driver.is_cpu]
    names = sorted({name for _, driver in drivers for name in driver.supports or ()})
    columns = tuple(
        f"{device_name(device)}: {driver.name} {driver.driver_version or ''}".strip() for device, driver in drivers
    )
    rows = [(name, tuple(_support(driver.supports, name) for _, driver in drivers)) for name in names]
    return Grid("Operations that NNAPI drivers take, by operand type", columns, tuple(rows))


def _support(supports: Mapping[str, tuple[str, ...]] | None, name: str) -> str:
    if supports is None:
        return MISSING
    return ", ".join(sorted(map(_element, supports.get(name, ())))) or REFUSED


def _element(operand_type: str) -> str:
    """What NNAPI's operand type holds, in the words of a model file; its own name where it is none of the usual."""
    return ELEMENT_OF_OPERAND.get(operand_type, operand_type)


def _latencies(devices: Sequence[Fingerprint], cells: Mapping[Cell, CellSummary]) -> Grid:
    keys = sorted({(cell.app, cell.model, cell.arm) for cell, summary in cells.items() if summary.measured})
    rows = [
        (f"{app}/{model} {arm}", tuple(_latency(cells.get(Cell(d.device_class, app, model, arm))) for d in devices))
        for app, model, arm in keys
    ]
    title = "Latency in ms: median window, its 95 % interval, windows"
    return Grid(title, tuple(map(device_name, devices)), tuple(rows))


def _latency(summary: CellSummary | None) -> str:
    if summary is None or not summary.measured:
        return MISSING
    half = Z_95 * (REPORT_VARIANCE / summary.measured + CLASS_VARIANCE) ** 0.5
    low, middle, high = (exp(summary.log_p50_us + shift) / 1e3 for shift in (-half, 0.0, half))
    return f"{plain(middle)} ({plain(low)}–{plain(high)}), n = {summary.measured}"


def _accuracies(devices: Sequence[Fingerprint], cells: Mapping[Cell, CellSummary]) -> Grid:
    pooled: dict[tuple[str, str, str], list[CellSummary]] = {}
    for cell, summary in cells.items():
        pooled.setdefault((cell.group, precision_of(cell.arm), target_of(cell.arm)), []).append(summary)
    keys = sorted({(precision, target) for _, precision, target in pooled})
    rows = [
        (
            f"{precision} on {target}",
            tuple(_accuracy(pooled.get((d.device_class, precision, target), [])) for d in devices),
        )
        for precision, target in keys
    ]
    title = "Golden checks passed, and the typical largest relative error of the outputs"
    return Grid(title, tuple(map(device_name, devices)), tuple(rows))


def _accuracy(found: Sequence[CellSummary]) -> str:
    checked = sum(summary.golden_checked for summary in found)
    if not checked:
        return MISSING
    passed = checked - sum(summary.golden_failed for summary in found)
    errors = [summary.golden_log_error for summary in found if summary.golden_log_error is not None]
    typical = f", error {exp(sum(errors) / len(errors)):.2%}" if errors else ""
    return f"{passed} of {checked}{typical}"
