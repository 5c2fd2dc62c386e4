"""How many have it: device classes with a finding, and how much of the fleet's use is theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ml.findings.device import Device
from ml.findings.finding import Finding, target_of
from ml.rollup import Cell, Rollup


def with_severity(
    findings: Sequence[Finding], rollups: Iterable[Rollup], devices: Mapping[str, Device]
) -> list[Finding]:
    """The findings with who has them and their share of all windows: the classes that the evidence names, else those of the
    SoC that ran what is suspected.
    """
    rows = list(rollups)
    windows: dict[str, int] = {}
    for row in rows:
        windows[row.cell.group] = windows.get(row.cell.group, 0) + row.windows + row.crashed
    cells = {row.cell for row in rows}
    return [_weighed(finding, cells, windows, devices) for finding in findings]


def _weighed(
    finding: Finding, cells: Iterable[Cell], windows: Mapping[str, int], devices: Mapping[str, Device]
) -> Finding:
    named = {row["device_class"] for row in finding.evidence if "device_class" in row}
    ran = {cell.group for cell in cells if _covers(finding, cell, devices[cell.group])}
    classes, total = named or ran, max(sum(windows.values()), 1)
    return replace(finding, classes=len(classes), uses=sum(windows.get(name, 0) for name in classes) / total)


def _covers(finding: Finding, cell: Cell, device: Device) -> bool:
    told = device.sibling(target_of(cell.arm))
    return finding.covers(cell, device.soc) and all(
        finding.quarantine.get(name, told[name]) == told[name] for name in told
    )
