"""Findings: what detectors saw in the fleet's own measurements, with the false-discovery rate held over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from ml.findings import (
    accuracy,
    executor,
    failing,
    integers,
    model_fault,
    newer,
    partitions,
    phantom,
    startup,
    thermal,
    updates,
    vanished,
    wrong_operation,
)
from ml.findings.crash import CRASH
from ml.findings.device import Device, devices_of
from ml.findings.finding import Finding
from ml.findings.golden import WRONG_OUTPUT
from ml.findings.hang import HANG
from ml.findings.operation import Graphs, with_operations
from ml.findings.probed import with_probes
from ml.findings.quarantine import with_quarantines
from ml.findings.seen import Seen
from ml.findings.severity import with_severity
from ml.rollup import Rollup

__all__ = ["Device", "Finding", "devices_of", "find"]

FALSE_DISCOVERY_RATE = 0.05

DETECTORS = (
    phantom.detect, WRONG_OUTPUT.detect, thermal.detect, CRASH.detect, HANG.detect, executor.detect, failing.detect, accuracy.detect,
    integers.detect, partitions.detect, startup.detect, updates.detect, newer.detect, vanished.detect,
    model_fault.detect, wrong_operation.detect,
)  # fmt: skip


def find(
    rollups: Iterable[Rollup], devices: Mapping[str, Device], graphs: Graphs = MappingProxyType({})
) -> list[Finding]:
    """All findings, those of most of the fleet's use first. `devices` by the rollups' groups: cohorts are SoC × driver.

    `graphs`: operations of the models' files, to blame one of them. Benjamini & Hochberg (1995) over every hypothesis
    that any detector tested.
    """
    seen = Seen(rollups, devices)
    tested = [finding for detect in DETECTORS for finding in detect(seen)]
    found = model_fault.settled(_discoveries(tested), seen)
    for failure in (WRONG_OUTPUT, CRASH, HANG):
        found = failure.joined(found, seen)
    found = with_quarantines(found, seen.rows, devices)
    found = with_probes(with_operations(found, seen, graphs), devices)
    found = with_severity(found, seen.rows, devices)
    return sorted(found, key=lambda f: (-f.uses, -f.windows, f.name, f.soc, f.target))


def _discoveries(tested: Sequence[Finding]) -> list[Finding]:
    ordered = sorted(tested, key=lambda finding: finding.p_value)
    count = len(ordered)
    passed = [rank for rank, f in enumerate(ordered, 1) if f.p_value <= FALSE_DISCOVERY_RATE * rank / count]
    return ordered[: max(passed, default=0)]
