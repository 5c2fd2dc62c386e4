"""Updates that made something slower: of a driver, which comes with Android, and of the runtime, which comes with a store.

Null: what executes takes at most 1.15 times as long with a version as with the one before it, on the same SoC, all else that
comes in versions being equal. So a driver is compared under one version of the app's runtime; a runtime under one driver and
one Android, on the CPU too.

Versions of drivers are strings of the vendor's taste: what came later is read from the Android version that they came with.
Those of runtimes are numbers with dots.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Any, Final, NamedTuple

from ml.findings.device import Device
from ml.findings.finding import Cohort, Finding, target_of
from ml.findings.pairs import MIN_PAIRS, Pair, by_soc, slower
from ml.findings.seen import Seen
from ml.rollup import Cell, CellSummary, Rollup
from policies.language.versions import dotted

NULL_LOG_RATIO: Final = log(1.15)


class Software(NamedTuple):
    """What runs a cell on a device class, by version; None where it is not known."""

    target: str
    driver: str | None
    runtime: str | None
    api_level: int


@dataclass(frozen=True)
class Update:
    """A kind of update: which version it changes, what has to be equal, and what its versions are ordered by."""

    finding: str
    what: str
    version: Callable[[Software], str | None]
    equal: Callable[[Software], Hashable]
    order: Callable[[Software], Any]


def _release(software: Software) -> tuple[int, ...] | None:
    return dotted(software.runtime or "")


UPDATES: Final = (
    Update("driver-update-slower", "driver", lambda s: s.driver, lambda s: s.runtime, lambda s: s.api_level),
    Update(
        "runtime-update-slower", "runtime", lambda s: s.runtime if _release(s) is not None else None,
        lambda s: (s.driver, s.api_level), _release,
    ),
)  # fmt: skip

Strata = Mapping[Hashable, Mapping[Cell, CellSummary]]
"""What is equal → measured cells, device classes of one SoC pooled."""


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a kind of update and the newest step between versions that two cells were measured on both sides of."""
    rows = [(row, _software(row, seen.devices[row.cell.group])) for row in seen.rows if row.measured]
    for update in UPDATES:
        for cohort, members in _by_target(rows, update, seen).items():
            for (old, before), (new, after) in list(pairwise(_versions(members, update, seen)))[-1:]:
                pairs = list(_pairs(before, after))
                if len(pairs) >= MIN_PAIRS:
                    says = f"takes {{}} × as long with {update.what} {new} as with {old}"
                    yield slower(update.finding, cohort, pairs, NULL_LOG_RATIO, says)


def _software(row: Rollup, device: Device) -> Software:
    target = target_of(row.cell.arm)
    return Software(target, device.versions.get(target), device.runtime_of(row.cell.arm), device.api_level)


Versioned = list[tuple[Rollup, Software]]


def _by_target(rows: Versioned, update: Update, seen: Seen) -> dict[Cohort, Versioned]:
    """By SoC and what executes, where the version that the update changes is known."""
    found: defaultdict[Cohort, Versioned] = defaultdict(list)
    for row, software in rows:
        if update.version(software) is not None:
            found[Cohort(seen.soc_of[row.cell.group], software.target, "")].append((row, software))
    return dict(found)


def _versions(members: Versioned, update: Update, seen: Seen) -> list[tuple[str, Strata]]:
    """Measured cells by version, in the order in which the versions came."""
    known: defaultdict[str, defaultdict[Hashable, list[Rollup]]] = defaultdict(lambda: defaultdict(list))
    since: dict[str, Any] = {}
    for row, software in members:
        version, order = str(update.version(software)), update.order(software)
        known[version][update.equal(software)].append(row)
        since[version] = min(since.get(version, order), order)
    return [
        (version, {equal: by_soc(rows, seen.soc_of) for equal, rows in known[version].items()})
        for version in sorted(known, key=lambda version: (since[version], version))
    ]


def _pairs(before: Strata, after: Strata) -> Iterator[Pair]:
    """A cell and itself under the version before; of several that are equal in all else, the middle one stands."""
    found: defaultdict[Cell, list[Pair]] = defaultdict(list)
    for equal in before.keys() & after.keys():
        old, new = before[equal], after[equal]
        for cell in old.keys() & new.keys():
            found[cell].append(Pair(new[cell], old[cell], new[cell].log_p50_us - old[cell].log_p50_us))
    return (_middle(found[cell]) for cell in sorted(found))


def _middle(pairs: Iterable[Pair]) -> Pair:
    ordered = sorted(pairs, key=lambda pair: pair.log_ratio)
    return ordered[len(ordered) // 2]
