"""Facts of device classes in columns, and tallies of the fleet by fact: what lists and shares are read from.

Both are written in the transaction that stores a report. Rows of the tally are only ever added, so that reports never wait
for each other; folding adds them up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session

from policies.fingerprint import Fingerprint
from policies.silicon import Presence
from service.store.tables import ClassFactsRow

UNKNOWN: Final = "(unknown)"
"""Stands for a fact that no phone of the class told; no canonical name has brackets."""
NONE: Final = "(none)"
"""Stands for "no accelerator" and "no anomaly"."""

_COUNT: Final = text(
    f"""
    WITH counted AS (
        UPDATE class_facts SET reports = reports + :reports WHERE device_class = :device_class
        RETURNING soc, soc_vendor, api_level, population, accelerators, anomalies)
    INSERT INTO fleet_tally (fact, value, device_classes, reports)
    SELECT fact, value, :device_classes, :reports
    FROM counted, LATERAL (
        VALUES ('soc', coalesce(soc, '{UNKNOWN}')), ('soc_vendor', coalesce(soc_vendor, '{UNKNOWN}')),
               ('api_level', api_level::text), ('population', population)
        UNION ALL SELECT 'accelerators', unnest(CASE accelerators WHEN '{{}}' THEN ARRAY['{NONE}'] ELSE accelerators END)
        UNION ALL SELECT 'anomalies', unnest(CASE anomalies WHEN '{{}}' THEN ARRAY['{NONE}'] ELSE anomalies END)
    ) AS held (fact, value)
    """  # noqa: S608 -- constants of this file
)
_FOLD: Final = text(
    """
    WITH gone AS (DELETE FROM fleet_tally RETURNING fact, value, device_classes, reports)
    INSERT INTO fleet_tally (fact, value, device_classes, reports)
    SELECT fact, value, sum(device_classes)::bigint, sum(reports)::bigint FROM gone GROUP BY 1, 2
    """
)
_TALLIES: Final = text(
    """
    SELECT fact, value, sum(device_classes)::bigint, sum(reports)::bigint FROM fleet_tally
    GROUP BY 1, 2 ORDER BY 4 DESC, 2
    """
)

_ACCELERATORS: Final = text("SELECT DISTINCT value FROM fleet_tally WHERE fact = 'accelerators' ORDER BY 1")
_BUSIEST: Final = text(
    """
    SELECT name, device_class FROM unnest(CAST(:names AS text[])) AS name, LATERAL (
        SELECT device_class FROM class_facts WHERE name = ANY(accelerators) ORDER BY reports DESC, device_class LIMIT 1
    ) AS busiest
    """
)


def add(session: Session, fingerprint: Fingerprint, first_seen: datetime) -> None:
    """The facts of a class that is new."""
    facts = fingerprint.model_dump(include=set(_PLAIN))
    names = {
        "accelerators": _accelerators(fingerprint),
        "anomalies": _distinct(anomaly.code for anomaly in fingerprint.anomalies),
    }
    session.execute(insert(ClassFactsRow).values(**facts, **names, first_seen=first_seen, reports=0))


_PLAIN: Final = ("device_class", "manufacturer", "model", "soc", "soc_vendor", "api_level", "nnapi_level", "population")


def _accelerators(fingerprint: Fingerprint) -> list[str]:
    """What a class can compute on beside CPU and GPU delegate: NNAPI drivers, and vendor runtimes that load."""
    drivers = [driver.name for driver in fingerprint.accelerators if not driver.is_cpu]
    return _distinct([*drivers, *(r.name for r in fingerprint.runtimes if r.presence is Presence.YES and not r.of_app)])


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def count(session: Session, device_class: str, *, device_classes: int, reports: int) -> None:
    """Count so many new classes (0 or 1) and new reports, by the facts that the class was stored with."""
    numbers = {"device_class": device_class, "device_classes": device_classes, "reports": reports}
    session.connection().execute(_COUNT, numbers)


def fold(session: Session) -> int:
    """One row a value again; returns how many rows there are now."""
    return session.connection().execute(_FOLD).rowcount


class Tally(NamedTuple):
    """How many classes and reports have a value."""

    value: str
    device_classes: int
    reports: int


def tallies(session: Session) -> dict[str, list[Tally]]:
    """Values of every fact of the fleet, by fact, the most reports first.

    Facts: `soc`, `soc_vendor`, `api_level`, `population`, of which a class has one value each, and `accelerators` and
    `anomalies`, of which it may have several.
    """
    found: defaultdict[str, list[Tally]] = defaultdict(list)
    for fact, *tally in session.connection().execute(_TALLIES):
        found[fact].append(Tally(*tally))
    return found


def accelerators(session: Session) -> list[str]:
    """The names of all accelerators that a phone reported."""
    return list(session.connection().execute(_ACCELERATORS).scalars())


def busiest_with(session: Session, accelerators: Sequence[str]) -> dict[str, str]:
    """The device class with the most reports that has each of these accelerators, by accelerator."""
    found = session.connection().execute(_BUSIEST, {"names": list(accelerators)})
    return {row.name: row.device_class for row in found}
