"""Driver-update regression. Null: a driver takes at most 1.15 times as long as the version before it on the same SoC.

Versions are strings of the vendor's taste: what came later is read from the Android version that they came with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import log

from ml.findings.finding import Cohort, Finding, target_of
from ml.findings.pairs import MIN_PAIRS, Pair, by_soc, slower
from ml.findings.seen import Seen
from ml.rollup import Cell, CellSummary, Rollup

NULL_LOG_RATIO = log(1.15)


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a driver's newest step between versions that two cells or more were measured on either side of."""
    for cohort, rows in _by_driver(seen).items():
        versions = _by_version(rows, cohort, seen)
        for (old, before), (new, after) in list(pairwise(versions))[-1:]:
            shared = sorted(before.keys() & after.keys())
            pairs = [Pair(after[c], before[c], after[c].log_p50_us - before[c].log_p50_us) for c in shared]
            if len(pairs) >= MIN_PAIRS:
                says = f"takes {{}} × as long with driver {new} as with {old}"
                yield slower("driver-update-slower", cohort, pairs, NULL_LOG_RATIO, says)


def _by_driver(seen: Seen) -> dict[Cohort, list[Rollup]]:
    """Rollups by device class, for a class has one version of a driver."""
    found: defaultdict[Cohort, list[Rollup]] = defaultdict(list)
    for row in seen.rows:
        target = target_of(row.cell.arm)
        if target in seen.devices[row.cell.group].versions:
            found[Cohort(seen.soc_of[row.cell.group], target, "")].append(row)
    return found


def _by_version(rows: Iterable[Rollup], cohort: Cohort, seen: Seen) -> list[tuple[str, dict[Cell, CellSummary]]]:
    """Measured cells of a cohort by driver version, in the order in which the versions came."""
    known: defaultdict[str, list[Rollup]] = defaultdict(list)
    since: dict[str, int] = {}
    for row in rows:
        device = seen.devices[row.cell.group]
        version = device.versions[cohort.target]
        known[version].append(row)
        since[version] = min(since.get(version, device.api_level), device.api_level)
    return [
        (version, by_soc(known[version], seen.soc_of))
        for version in sorted(known, key=lambda version: (since[version], version))
    ]
