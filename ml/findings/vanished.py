"""Accelerator vanished, driver switched off: what reports list, and do not list any more.

Vanished. Null: at most one report in fifty of a phone model lacks a driver that the same model had before or has besides
(a probe whose child died lists none). Phones on older Android than the first that had it say nothing.

Switched off. Null: at most one report in fifty of a SoC that should have an NPU lists none that works. This needs no time
before: what should be there is a hint about the silicon, so the finding says where to look and nothing more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ml.findings.device import Device
from ml.findings.finding import Finding, share_p_value
from ml.findings.seen import Seen

NULL_SHARE = 0.02
NNAPI = "nnapi"

Classes = dict[str, Device]
"""By device class."""


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a driver of a SoC that some phones lack; one a SoC where any driver is switched off."""
    by_phone: defaultdict[tuple[str, str], Classes] = defaultdict(dict)
    by_soc: defaultdict[str, Classes] = defaultdict(dict)
    for name, device in seen.devices.items():
        by_phone[device.soc, device.phone][name] = device
        by_soc[device.soc][name] = device
    yield from _vanished(by_phone)
    for soc, members in by_soc.items():
        off = {name: device for name, device in members.items() if device.switched_off}
        if off:
            yield _finding("driver-switched-off", soc, NNAPI, off, members, "list no NNAPI driver that works")


def _vanished(by_phone: Mapping[tuple[str, str], Classes]) -> Iterator[Finding]:
    lacking: defaultdict[tuple[str, str], tuple[Classes, Classes]] = defaultdict(lambda: ({}, {}))
    for (soc, _), members in by_phone.items():
        for driver in frozenset[str]().union(*(device.drivers for device in members.values())):
            since = min(device.api_level for device in members.values() if driver in device.drivers)
            without, asked = lacking[soc, driver]
            for name, device in members.items():
                if device.api_level >= since:
                    asked[name] = device
                    without |= {} if driver in device.drivers else {name: device}
    for (soc, driver), (without, asked) in lacking.items():
        if without:
            yield _finding("accelerator-vanished", soc, driver, without, asked, f"do not list {driver} any more")


def _finding(name: str, soc: str, target: str, bad: Classes, asked: Classes, says: str) -> Finding:
    lost, reports = (sum(device.reports for device in group.values()) for group in (bad, asked))
    evidence = tuple(
        {
            "device_class": name, "phone": device.phone, "api_level": device.api_level, "reports": device.reports,
            "drivers": sorted(device.drivers),
        }
        for name, device in bad.items()
    )  # fmt: skip
    p_value = share_p_value(lost, reports, NULL_SHARE)
    return Finding(name, soc, target, "", p_value, lost, f"{lost} of {reports} reports {says}", evidence)
