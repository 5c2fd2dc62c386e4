"""What probes measured of a suspected phantom: a reference graph on the driver, and the same forced onto NNAPI's CPU.

Evidence beside the windows, not part of the test: a probe times one small graph once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ml.findings.device import Device
from ml.findings.finding import ANY, Finding

PHANTOM: Final = "phantom-acceleration"


def with_probes(findings: Sequence[Finding], devices: Mapping[str, Device]) -> list[Finding]:
    """The findings; those of phantoms with a row more, where a probe of the SoC could tell."""
    return [_told(finding, devices.values()) if finding.name == PHANTOM else finding for finding in findings]


def _told(finding: Finding, devices: Iterable[Device]) -> Finding:
    told = [
        device.no_faster[finding.target]
        for device in devices
        if finding.soc in {ANY, device.soc} and finding.target in device.no_faster
    ]
    if not told:
        return finding
    row: dict[str, Any] = {"probed_classes": len(told), "probed_no_faster_than_cpu": sum(told)}
    return replace(finding, evidence=(*finding.evidence, row))
