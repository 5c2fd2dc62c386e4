"""Driver-update regression. Null: a driver takes at most 1.15 times as long as the version before it on the same SoC.

Versions are strings of the vendor's taste: what came later is read from the Android version that they came with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from math import log

from ml.findings.device import Device
from ml.findings.finding import Cohort, Finding, by_cohort, target_of
from ml.findings.pairs import MIN_PAIRS, Pair, slower
from ml.rollup import Cell, CellSummary, Rollup, regrouped, summaries

NULL_LOG_RATIO = log(1.15)


def detect(rollups: Iterable[Rollup], devices: Mapping[str, Device]) -> Iterator[Finding]:
    """One hypothesis a driver's newest step between versions that two cells or more were measured on either side of."""
    rows = list(rollups)
    for cohort in by_cohort(rows, {name: device.soc for name, device in devices.items()}, precision=False):
        versions = _by_version(rows, cohort, devices)
        for (old, before), (new, after) in list(pairwise(versions))[-1:]:
            shared = sorted(before.keys() & after.keys())
            pairs = [Pair(after[c], before[c], after[c].log_p50_us - before[c].log_p50_us) for c in shared]
            if len(pairs) >= MIN_PAIRS:
                says = f"takes {{}} × as long with driver {new} as with {old}"
                yield slower("driver-update-slower", cohort, pairs, NULL_LOG_RATIO, says)


def _by_version(
    rows: Iterable[Rollup], cohort: Cohort, devices: Mapping[str, Device]
) -> list[tuple[str, dict[Cell, CellSummary]]]:
    """Measured cells of a cohort by driver version, in the order in which the versions came."""
    known: defaultdict[str, list[Rollup]] = defaultdict(list)
    since: dict[str, int] = {}
    for row in rows:
        device = devices[row.cell.group]
        version = device.versions.get(cohort.target)
        if version and device.soc == cohort.soc and target_of(row.cell.arm) == cohort.target:
            known[version].append(row)
            since[version] = min(since.get(version, device.api_level), device.api_level)
    soc_of = {name: device.soc for name, device in devices.items()}
    cells = {version: summaries(regrouped(own, soc_of)) for version, own in known.items()}
    return [
        (version, {cell: summary for cell, summary in cells[version].items() if summary.measured})
        for version in sorted(cells, key=lambda version: (since[version], version))
    ]
