"""What the fleet page counts, in a fixed number of queries however large the fleet is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import FromClause, func, literal, select, union_all
from sqlmodel import Session

from service.console.class_facts import NONE, class_facts, or_unknown, unfolded
from service.console.views import ACCEPTED_MODEL
from service.store import tallies
from service.store.tables import metadata

SHOWN_VALUES: Final = 8
SHOWN_ROUNDS: Final = 200


@dataclass(frozen=True, slots=True)
class Counts:
    """How much of everything is stored. `set_aside`: observations by the reason they are not learned from."""

    reports: int
    device_classes: int
    models: int
    apps: int
    accepted: int
    set_aside: Mapping[str, int]


def counts(session: Session) -> Counts:
    """All counts."""
    tables = metadata.tables
    model = ACCEPTED_MODEL
    row = session.connection().execute(
        select(
            select(func.count()).select_from(tables["report"]).scalar_subquery(),
            select(func.count()).select_from(tables["device_class"]).scalar_subquery(),
            select(func.count()).select_from(model).scalar_subquery(),
            select(func.count(func.distinct(model.c.app))).scalar_subquery(),
        )
    )
    reports, classes, models, apps = row.one()
    totals = tallies.totals(session)
    set_aside = {reason: records for (verdict, reason), records in totals.items() if verdict == "set-aside"}
    return Counts(reports, classes, models, apps, totals.get(("accepted", ""), 0), set_aside)


@dataclass(frozen=True, slots=True)
class Share:
    """How many reports have a value, and which part of all that is."""

    value: str
    reports: int
    part: float


@dataclass(frozen=True, slots=True)
class Shares:
    """The commonest values of one fact; `others` stand for the rest, `other_reports` for theirs."""

    shown: tuple[Share, ...]
    others: int
    other_reports: int


@dataclass(frozen=True, slots=True)
class AnomalyCount:
    """How many classes and reports have an anomaly of the code."""

    code: str
    device_classes: int
    reports: int


@dataclass(frozen=True, slots=True)
class Composition:
    """What the fleet is made of: shares by fact, and anomalies, the most reports first."""

    shares: Mapping[str, Shares]
    anomalies: tuple[AnomalyCount, ...]


_FACTS: Final = ("soc", "soc_vendor", "api_level")


def composition(session: Session, reports: int) -> Composition:
    """Shares of all `reports` by SoC, vendor, API level and accelerator, and anomalies by code. One query."""
    facts = class_facts()
    # Named once, so that the fingerprints are unpacked once for all five counts.
    known = select(facts).cte("known")
    parts = [_counted(fact, select(known.c.reports, or_unknown(known.c[fact]).label("value"))) for fact in _FACTS]
    parts += [_counted(name, unfolded(known, known.c[name])) for name in ("accelerators", "anomalies")]
    rows: defaultdict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for fact, value, classes, number in session.connection().execute(union_all(*parts)):
        rows[fact].append((value, int(classes), int(number)))
    for found in rows.values():
        found.sort(key=lambda row: (-row[2], row[0]))
    anomalies = tuple(AnomalyCount(*row) for row in rows.pop("anomalies", []) if row[0] != NONE)
    return Composition({fact: _shares(rows[fact], reports) for fact in (*_FACTS, "accelerators")}, anomalies)


def _counted(fact: str, valued: Any) -> Any:
    values: FromClause = valued.subquery()
    return select(
        literal(fact).label("fact"), values.c.value, func.count().label("classes"), func.sum(values.c.reports)
    ).group_by(values.c.value)


def _shares(rows: list[tuple[str, int, int]], reports: int) -> Shares:
    shown = tuple(Share(value, number, number / reports) for value, _, number in rows[:SHOWN_VALUES] if number)
    rest = [number for _, _, number in rows[SHOWN_VALUES:]]
    return Shares(shown, len(rest), sum(rest))


@dataclass(frozen=True, slots=True)
class LearningRun:
    """The newest recommendation without its rankings, which may be large."""

    id: int
    made_at: datetime
    figures: Mapping[str, Any]


def newest_run(session: Session) -> LearningRun | None:
    """The newest learning run, or None before the first."""
    table = metadata.tables["recommendation"]
    columns = select(table.c.id, table.c.made_at, table.c.figures)
    row = session.connection().execute(columns.order_by(table.c.id.desc()).limit(1)).first()
    return LearningRun(row.id, row.made_at, row.figures) if row else None


def rounds(session: Session) -> list[dict[str, Any]]:
    """Figures of the newest rounds of a simulated fleet, the oldest first."""
    table = metadata.tables["fleet_round"]
    newest = select(table.c.figures).order_by(table.c.release.desc()).limit(SHOWN_ROUNDS)
    return [figures for (figures,) in session.connection().execute(newest)][::-1]
