"""Newer but slower. Null: a driver takes at most 1.25 times as long as on the SoC before it, beyond what its chip does.

The one before is the same vendor's newest older SoC of the same tier that measured the same arms. A newer chip may honestly
be slower than the one before it: a cheaper part, or one for another product. Then its CPU and its other drivers are slower
as well, and nobody can mend that. A driver that falls behind the rest of its own chip is what somebody should look at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
from statistics import median

from ml.findings.device import Device
from ml.findings.finding import Cohort, Finding, target_of
from ml.findings.pairs import MIN_PAIRS, Pair, slower
from ml.findings.seen import Seen
from ml.rollup import Cell, CellSummary

NULL_LOG_RATIO = log(1.25)

ByTarget = Mapping[str, Sequence[Pair]]
"""What executes → cells of two SoCs that both measured, one a model."""


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a driver that measured two models or more as a forerunner did, as did something else on its chip."""
    socs = {device.soc: device for device in seen.devices.values()}
    by_own: defaultdict[str, dict[Cell, CellSummary]] = defaultdict(dict)
    for cell, summary in seen.cells.items():
        by_own[cell.group][cell] = summary
    for soc, cells in by_own.items():
        told: set[str] = set()
        for older in _forerunners(socs[soc], socs):
            compared = _compared(cells, by_own.get(older, {}), older)
            for target in sorted(compared.keys() - told - {"cpu"}):
                rest = [_usual(pairs) for name, pairs in compared.items() if name != target]
                if rest:
                    told.add(target)
                    yield _finding(Cohort(soc, target, ""), compared[target], max(median(rest), 0.0), older)


def _forerunners(own: Device, socs: Mapping[str, Device]) -> list[str]:
    """SoCs that came before, the newest first."""
    older = [soc for soc, device in socs.items() if _came_before(device, own)]
    return sorted(older, key=lambda soc: (socs[soc].year or 0.0, soc), reverse=True)


def _compared(cells: Mapping[Cell, CellSummary], others: Mapping[Cell, CellSummary], older: str) -> ByTarget:
    """What executes two models or more on both SoCs. Files of one model are no witnesses apart: the middle one stands."""
    found: defaultdict[str, defaultdict[tuple[str, str], list[Pair]]] = defaultdict(lambda: defaultdict(list))
    for cell, own in sorted(cells.items()):
        other = others.get(cell._replace(group=older))
        if other is not None:
            pair = Pair(own, other, own.log_p50_us - other.log_p50_us)
            found[target_of(cell.arm)][cell.app, cell.model].append(pair)
    middles = {target: [_middle(pairs) for pairs in models.values()] for target, models in found.items()}
    return {target: pairs for target, pairs in middles.items() if len(pairs) >= MIN_PAIRS}


def _middle(pairs: Sequence[Pair]) -> Pair:
    return sorted(pairs, key=lambda pair: pair.log_ratio)[len(pairs) // 2]


def _usual(pairs: Sequence[Pair]) -> float:
    return median(pair.log_ratio for pair in pairs)


def _finding(cohort: Cohort, pairs: Sequence[Pair], chip_log_ratio: float, older: str) -> Finding:
    excess = [replace(pair, log_ratio=pair.log_ratio - chip_log_ratio) for pair in pairs]
    says = f"takes {{}} × as long as on {older}, beyond what the rest of the chip does"
    return slower("newer-but-slower", cohort, excess, NULL_LOG_RATIO, says)


def _came_before(device: Device, own: Device) -> bool:
    if device.vendor is None or device.vendor != own.vendor or device.tier != own.tier:
        return False
    return device.year is not None and own.year is not None and device.year < own.year
