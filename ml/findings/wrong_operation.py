"""Wrong operation: what probes found a driver to compute otherwise than NNAPI's own CPU, before any model was run.

Null: at most one report in fifty of a SoC has a driver get an operation wrong, of those that compared its outputs. A model may
never meet the operation, so the finding says where to look and denies nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from ml.findings.device import Device
from ml.findings.finding import Finding, share_p_value
from ml.findings.seen import Seen

NULL_SHARE: Final = 0.02
NAME: Final = "wrong-operation"


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a driver of a SoC and an operation that any report says it gets wrong."""
    asked: defaultdict[tuple[str, str], list[tuple[str, Device]]] = defaultdict(list)
    for name, device in seen.devices.items():
        for target in device.miscomputes:
            asked[device.soc, target].append((name, device))
    for (soc, target), members in asked.items():
        for operation in sorted(frozenset[str]().union(*(device.miscomputes[target] for _, device in members))):
            yield _finding(soc, target, operation, members)


def _finding(soc: str, target: str, operation: str, members: Sequence[tuple[str, Device]]) -> Finding:
    bad = [(name, device) for name, device in members if operation in device.miscomputes[target]]
    wrong, reports = (sum(device.reports for _, device in group) for group in (bad, members))
    evidence = tuple(
        {
            "device_class": name, "phone": device.phone, "api_level": device.api_level, "reports": device.reports,
            "driver_version": device.versions.get(target, ""),
        }
        for name, device in bad
    )  # fmt: skip
    detail = f"{wrong} of {reports} reports have {target} compute {operation} otherwise than NNAPI's CPU"
    p_value = share_p_value(wrong, reports, NULL_SHARE)
    return Finding(
        NAME, soc, target, "", p_value, wrong, detail, evidence, operation=operation, of={"operation": operation}
    )
