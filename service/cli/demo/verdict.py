"""Judging a demo: were the planted faults found, is every acknowledged record stored, did the fleet get better?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Engine
from sqlmodel import Session

from ml.findings import Finding
from ml.fleet import Fault
from service.cli.demo.rounds import RoundFigures
from service.store.telemetry import stored_ids

GOAL_MEAN_REGRET: Final = 1.10
_CHUNK: Final = 10_000

SEEN_AS: Final = {
    "phantom-accelerator": "phantom-acceleration",
    "int8-wrong-output": "wrong-output",
    "thermal-step": "thermal-step",
    "thermal-step-gpu": "thermal-step",
    "driver-crash": "crash",
    "int8-concat-crash": "crash",
    "gpu-hang": "hang",
    "sibling-refused": "does-not-run",
    "runtime-update": "runtime-update-slower",
}
"""Which detector should see a planted fault."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a demo."""

    rounds: tuple[RoundFigures, ...]
    lookups: int
    lookup_p50_ms: float
    lookup_p99_ms: float
    acknowledged: int
    lost_observations: int
    faults: tuple[dict[str, Any], ...]

    @property
    def better(self) -> bool:
        """The last round beats the out-of-the-box rule, and the goal."""
        return self.rounds[-1].mean_regret < min(self.rounds[0].mean_regret, GOAL_MEAN_REGRET)

    @property
    def passed(self) -> bool:
        """Better, and nothing acknowledged is missing."""
        return self.better and self.lost_observations == 0

    def to_json(self) -> dict[str, Any]:
        """The contract of `nnfleet demo --json`."""
        return {
            "rounds": [figures.to_json() for figures in self.rounds],
            "lookups": self.lookups,
            "lookup_p50_ms": round(self.lookup_p50_ms, 2),
            "lookup_p99_ms": round(self.lookup_p99_ms, 2),
            "acknowledged": self.acknowledged,
            "lost_observations": self.lost_observations,
            "faults": list(self.faults),
        }


def lost(engine: Engine, acknowledged: Iterable[UUID]) -> int:
    """How many acknowledged records the database does not have."""
    ids = list(acknowledged)
    with Session(engine) as session:
        found = sum(len(stored_ids(session, ids[at : at + _CHUNK])) for at in range(0, len(ids), _CHUNK))
    return len(ids) - found


def judged(faults: Iterable[Fault], findings: Sequence[Finding]) -> tuple[dict[str, Any], ...]:
    """Each planted fault with the phones that have it and whether a finding names its kind, SoC and driver."""
    return tuple(
        {"name": fault.name, "devices": fault.phones, "found": any(_names(finding, fault) for finding in findings)}
        for fault in faults
    )


def _names(finding: Finding, fault: Fault) -> bool:
    targets = {f"{d}.{a}" for d in fault.delegates for a in fault.accelerators} or set(fault.delegates)
    precision = not finding.precision or not fault.precisions or finding.precision in fault.precisions
    return finding.name == SEEN_AS[fault.name] and finding.soc in fault.socs and finding.target in targets and precision
