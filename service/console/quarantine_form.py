"""The form of a quarantine: from a finding, from what was sent, and to the JSON that a quarantine is parsed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from policies.errors import InvalidField
from policies.figures import plain
from service.console.forms import said
from service.releasing.suspects import drivers_of, suspects
from service.store.tables import FindingRow
from service.web.bodies import whole_number

MOST_WORDS: Final = 500
MOST_TEXT: Final = 8_000
MOST_EVIDENCE_ROWS: Final = 12


class Selector(NamedTuple):
    """What a cohort calls one of its lists, and what readers do."""

    name: str
    label: str
    hint: str = ""


COHORT: Final[Mapping[str, Selector]] = MappingProxyType(
    {
        "socs": Selector("socs", "SoCs"),
        "soc_ids": Selector("soc_ids", "Numbers of SoCs", "the kernel's: siblings share a name"),
        "accelerators": Selector("accelerators", "Accelerators"),
        "driver_versions": Selector("driver_versions", "Driver versions"),
        "gpus": Selector("gpus", "GPUs"),
        "phones": Selector("models", "Phone models"),
        "device_classes": Selector("device_classes", "Device classes"),
    }
)
"""By the form's field: a quarantine has models of its own, which are no phones."""
COHORT_LABELS: Final = MappingProxyType({one.name: one.label for one in COHORT.values()})
LISTS: Final = ("arms", "models", *COHORT, "evidence")
"""Fields that hold one entry a line, or several between commas."""


@dataclass(frozen=True, slots=True)
class Form:
    """What the fields hold, as text."""

    id: str = ""
    app: str = ""
    arms: str = ""
    models: str = ""
    socs: str = ""
    soc_ids: str = ""
    phones: str = ""
    gpus: str = ""
    accelerators: str = ""
    driver_versions: str = ""
    device_classes: str = ""
    when: str = ""
    reason: str = ""
    evidence: str = ""
    until: str = ""
    owner: str = ""
    note: str = ""
    finding: str = ""
    base: str = ""

    @property
    def base_number(self) -> int | None:
        """The revision that was read when the form was made; None where there was none."""
        return whole_number(self.base)

    def quarantine(self) -> dict[str, Any]:
        """The quarantine in JSON values; what is empty is left out."""
        cohort: dict[str, list[Any]] = {one.name: _entries(getattr(self, field)) for field, one in COHORT.items()}
        cohort["soc_ids"] = [_number(entry) for entry in cohort["soc_ids"]]
        deny = {
            "id": self.id, "arms": _entries(self.arms), "models": _entries(self.models), "reason": self.reason,
            "cohort": {name: entries for name, entries in cohort.items() if entries},
            "when": self.when or None, "until": self.until or None,
        }  # fmt: skip
        evidence = [line.strip() for line in self.evidence.splitlines() if line.strip()]
        return {"app": self.app or None, "deny": deny, "evidence": evidence, "owner": self.owner}

    def said_note(self) -> str:
        """Why; raises InvalidField where it is not said."""
        if not self.note:
            raise InvalidField("note: say why, for whoever reviews it", field="note")
        return self.note


def _entries(text: str) -> list[str]:
    return [entry.strip() for line in text.splitlines() for entry in line.split(",") if entry.strip()]


def _number(text: str) -> int | str:
    """What it says, where it is a number: where not, the quarantine is refused with the place."""
    number = whole_number(text)
    return text if number is None else number


def of_form() -> Form:
    """What was sent; raises InvalidField for what is too long."""
    return Form(**{f.name: said(f.name, MOST_TEXT if f.name in LISTS else MOST_WORDS) for f in fields(Form)})


def of_finding(row: FindingRow, owner: str, until: str, base: int | None) -> Form:
    """The narrowest cohort of a finding, with its figures as evidence. `base`: the quarantine that stands for it already."""
    told = row.content
    narrowest = next(suspects(told))
    app, _, model = narrowest.model.partition("/")
    cohort, driver = narrowest.cohort, narrowest.arms.partition(".nnapi.")[2]
    drivers = {driver} & (drivers_of([narrowest.arms]) or frozenset())
    evidence = [f"{told['detail']} (p = {told['p_value']:.2g}, {told['windows']:,} windows)"]
    evidence += [_line(line) for line in told["evidence"][:MOST_EVIDENCE_ROWS]]
    return Form(
        id=row.id, app=app, arms=narrowest.arms, models=model, socs="\n".join(cohort.socs),
        soc_ids="\n".join(map(str, cohort.soc_ids)), accelerators="".join(drivers),
        driver_versions="\n".join(cohort.driver_versions), when=narrowest.when,
        reason=f"{told['name'].replace('-', ' ')}: {told['detail']}"[:MOST_WORDS], evidence="\n".join(evidence),
        until=until, owner=owner, finding=row.id, base=str(base or ""),
    )  # fmt: skip


def _line(row: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {plain(value, 4)}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items()
    )
