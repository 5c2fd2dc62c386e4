"""What the fleet page counts, in a fixed number of queries however large the fleet is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, func, select
from sqlmodel import Session

from service.console.own_apps import of_own
from service.console.views import ACCEPTED_MODEL
from service.store import tallies
from service.store.class_facts import NONE, Tally
from service.store.tables import metadata

SHOWN_VALUES: Final = 8
SHOWN_ROUNDS: Final = 200
_RUN: Final = metadata.tables["recommendation"]
_RUNS: Final = select(_RUN.c.id, _RUN.c.made_at, _RUN.c.figures)
Tallies = Mapping[str, Sequence[Tally]]
"""Values by fact, as `class_facts.tallies` has them."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much of everything is stored. `set_aside`: observations by the reason they are not learned from."""

    reports: int
    device_classes: int
    models: int
    apps: int
    accepted: int
    set_aside: Mapping[str, int]


def counts(session: Session, known: Tallies) -> Counts:
    """All counts; classes and reports are those of `known`, apps and models the visitor's."""
    model = ACCEPTED_MODEL
    row = session.connection().execute(
        select(
            select(func.count()).select_from(model).where(of_own(model.c.app)).scalar_subquery(),
            select(func.count(func.distinct(model.c.app))).where(of_own(model.c.app)).scalar_subquery(),
        )
    )
    models, apps = row.one()
    totals = tallies.totals(session)
    set_aside = {reason: records for (verdict, reason), records in totals.items() if verdict == "set-aside"}
    populations = known.get("population", ())  # each class is of one
    return Counts(
        reports=sum(tally.reports for tally in populations),
        device_classes=sum(tally.device_classes for tally in populations),
        models=models,
        apps=apps,
        accepted=totals.get(("accepted", ""), 0),
        set_aside=set_aside,
    )


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
class Composition:
    """What the fleet is made of: shares by fact, and anomalies, the most reports first."""

    shares: Mapping[str, Shares]
    anomalies: tuple[Tally, ...]


_SHARED: Final = ("soc", "soc_vendor", "api_level", "accelerators")


def composition(known: Tallies, reports: int) -> Composition:
    """Shares of all `reports` by SoC, vendor, API level and accelerator, and anomalies by code."""
    anomalies = tuple(tally for tally in known.get("anomalies", ()) if tally.value != NONE)
    return Composition({fact: _shares(known.get(fact, ()), reports) for fact in _SHARED}, anomalies)


def _shares(values: Sequence[Tally], reports: int) -> Shares:
    first = [tally for tally in values[:SHOWN_VALUES] if tally.reports]
    shown = tuple(Share(tally.value, tally.reports, tally.reports / reports) for tally in first)
    rest = values[SHOWN_VALUES:]
    return Shares(shown, len(rest), sum(tally.reports for tally in rest))


@dataclass(frozen=True, slots=True)
class LearningRun:
    """The newest recommendation without its rankings, which may be large."""

    id: int
    made_at: datetime
    figures: Mapping[str, Any]


def newest_run(session: Session) -> LearningRun | None:
    """The newest learning run, or None before the first."""
    return _run(session, _RUNS.order_by(_RUN.c.id.desc()).limit(1))


def learning_run(session: Session, number: int) -> LearningRun | None:
    """One learning run."""
    return _run(session, _RUNS.where(_RUN.c.id == number))


def _run(session: Session, query: Select[Any]) -> LearningRun | None:
    row = session.connection().execute(query).first()
    return LearningRun(row.id, row.made_at, row.figures) if row else None


def rounds(session: Session) -> list[dict[str, Any]]:
    """Figures of the newest rounds of a simulated fleet, the oldest first."""
    table = metadata.tables["fleet_round"]
    newest = select(table.c.figures).order_by(table.c.release.desc()).limit(SHOWN_ROUNDS)
    return [figures for (figures,) in session.connection().execute(newest)][::-1]
