"""What the accelerators of the fleet would take of a file that nobody ran yet: by what the busiest class of each told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlmodel import Session

from policies.arm import Arm
from policies.arm_coverage import arm_coverage
from policies.default_rule import ArmCoverage
from policies.fingerprint import Fingerprint
from policies.model import Variant
from policies.vocabulary import Delegate, Format
from service.store import class_facts, reports
from service.store.class_facts import NONE
from service.store.tables import ArtifactRow

MOST_ACCELERATORS: Final = 12


@dataclass(frozen=True, slots=True)
class Taken:
    """What an accelerator takes, as it is in one device class; `reports` are those of all classes that have it."""

    accelerator: str
    reports: int
    facts: Fingerprint
    coverage: ArmCoverage


def file_coverage(session: Session, row: ArtifactRow) -> list[Taken]:
    """One for each NNAPI driver that most reports have; none for a file that NNAPI does not load. Three queries."""
    if row.format != Format.TFLITE or row.precision is None:
        return []
    variant = Variant.model_validate(
        {
            "id": "file",
            "precision": row.precision,
            "format": row.format,
            "sha256": row.sha256,
            "size_bytes": row.size_bytes,
            "graph": row.graph,
        }
    )
    known = [tally for tally in class_facts.tallies(session).get("accelerators", ()) if tally.value != NONE]
    busiest = class_facts.busiest_with(session, [tally.value for tally in known[:MOST_ACCELERATORS]])
    facts = reports.fingerprints(session, set(busiest.values()))
    return [
        Taken(tally.value, tally.reports, facts[busiest[tally.value]], found)
        for tally in known
        if tally.value in busiest
        and (found := _coverage(variant, facts[busiest[tally.value]], tally.value)) is not None
    ]


def _coverage(variant: Variant, facts: Fingerprint, name: str) -> ArmCoverage | None:
    """None where the accelerator is no NNAPI driver: a vendor runtime says what it takes only by running it."""
    driver = next((known for known in facts.accelerators if known.name == name), None)
    return arm_coverage(Arm(variant, Delegate.NNAPI, driver)) if driver else None
