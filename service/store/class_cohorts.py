"""How much of the fleet a cohort is: classes and reports, counted by columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import ARRAY, ColumnElement, Row, Select, Text, and_, cast, exists, func, select, true
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Session

from policies.rules.deny import Cohort
from service.store.tables import metadata

_FACTS: Final = metadata.tables["class_facts"].c
_CLASS: Final = metadata.tables["device_class"]
_PLAIN: Final = {
    "socs": _FACTS.soc,
    "manufacturers": _FACTS.manufacturer,
    "models": _FACTS.model,
    "device_classes": _FACTS.device_class,
}
"""What a cohort is stated by → the column that has it."""


class Size(NamedTuple):
    """How many classes, and how many reports of them: one a firmware, not one a phone."""

    device_classes: int
    reports: int


@dataclass(frozen=True, slots=True)
class Members:
    """The classes of a cohort that have one of the drivers; `drivers` None: whichever they have."""

    cohort: Cohort
    drivers: Collection[str] | None = None

    @property
    def condition(self) -> ColumnElement[bool]:
        """Of a row of `class_facts`."""
        stated = ((column, getattr(self.cohort, name)) for name, column in _PLAIN.items())
        plain = [column.in_(names) for column, names in stated if names]
        either = [names for names in (self.cohort.accelerators, self.drivers) if names]
        drivers = [_FACTS.accelerators.op("&&")(cast(list(names), ARRAY(Text))) for names in either]
        asked = self.cohort.gpus or self.cohort.soc_ids or self.cohort.driver_versions
        deeper = [_in_fingerprint(self.cohort)] if asked else []
        return and_(true(), *plain, *drivers, *deeper)


def _in_fingerprint(cohort: Cohort) -> ColumnElement[bool]:
    """What only the fingerprint tells. Asked last: it is long."""
    told = _CLASS.c.fingerprint
    found: list[ColumnElement[bool]] = [_CLASS.c.device_class == _FACTS.device_class]
    if cohort.gpus:
        found.append(told["gpu"]["family"].astext.in_(cohort.gpus))
    if cohort.soc_ids:
        found.append(told["soc_id"].astext.in_(map(str, cohort.soc_ids)))
    if cohort.driver_versions:
        driver = func.jsonb_array_elements(told["accelerators"]).table_valued("value", name="driver")
        told_of: Any = cast(driver.c.value, JSONB)
        same = [told_of["driver_version"].astext.in_(cohort.driver_versions)]
        same += [told_of["name"].astext.in_(cohort.accelerators)] if cohort.accelerators else []
        found.append(exists(select(1).select_from(driver).where(*same)))
    return exists(select(1).select_from(_CLASS).where(*found))


def sizes(session: Session, cohorts: Sequence[Members]) -> tuple[Size, list[Size]]:
    """(the whole fleet, the cohorts), in one scan."""
    counted: list[ColumnElement[Any]] = []
    for condition in (true(), *(members.condition for members in cohorts)):
        counted += [func.count().filter(condition), func.coalesce(func.sum(_FACTS.reports).filter(condition), 0)]
    row = session.connection().execute(select(*counted)).one()
    found = [Size(int(row[at]), int(row[at + 1])) for at in range(0, len(row), 2)]
    return found[0], found[1:]


def largest(session: Session, members: Members, limit: int) -> Sequence[Row[Any]]:
    """The classes (with reports, maker, model, SoC) of a cohort that have the most reports."""
    columns = [_FACTS[name] for name in ("device_class", "reports", "manufacturer", "model", "soc")]
    asked: Select[Any] = select(*columns).where(members.condition)
    return session.connection().execute(asked.order_by(_FACTS.reports.desc(), _FACTS.device_class).limit(limit)).all()
