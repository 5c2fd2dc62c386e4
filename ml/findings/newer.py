"""Newer but slower. Null: an arm takes at most 1.1 times as long on a SoC as on the one before it.

The one before is the same vendor's newest older SoC of the same tier that measured the same arms: a new mid-range chip
may honestly be slower than last year's flagship.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import log

from ml.findings.device import Device
from ml.findings.finding import Finding
from ml.findings.pairs import MIN_PAIRS, Pair, by_soc, delegating, slower
from ml.rollup import Cell, CellSummary, Rollup

NULL_LOG_RATIO = log(1.1)


def detect(rollups: Iterable[Rollup], devices: Mapping[str, Device]) -> Iterator[Finding]:
    """One hypothesis a driver on a SoC whose forerunner measured two of its cells or more."""
    rows = list(rollups)
    soc_of = {name: device.soc for name, device in devices.items()}
    cells, socs = by_soc(rows, soc_of), {device.soc: device for device in devices.values()}
    for cohort, members in delegating(rows, soc_of):
        found = _against_forerunner(socs[cohort.soc], members, cells, socs)
        if found is not None:
            forerunner, pairs = found
            yield slower("newer-but-slower", cohort, pairs, NULL_LOG_RATIO, f"takes {{}} × as long as on {forerunner}")


def _against_forerunner(
    own: Device, members: Iterable[Cell], cells: Mapping[Cell, CellSummary], socs: Mapping[str, Device]
) -> tuple[str, list[Pair]] | None:
    older = [soc for soc, device in socs.items() if _came_before(device, own)]
    pairs: defaultdict[str, list[Pair]] = defaultdict(list)
    for cell in members:
        for soc in older:
            other = cells.get(cell._replace(group=soc))
            if other is not None:
                pairs[soc].append(Pair(cells[cell], other, cells[cell].log_p50_us - other.log_p50_us))
    enough = [soc for soc, found in pairs.items() if len(found) >= MIN_PAIRS]
    newest = max(enough, key=lambda soc: (socs[soc].year or 0.0, soc), default=None)
    return None if newest is None else (newest, pairs[newest])


def _came_before(device: Device, own: Device) -> bool:
    if device.vendor is None or device.vendor != own.vendor or device.tier != own.tier:
        return False
    return device.year is not None and own.year is not None and device.year < own.year
