"""Device classes as columns: the facts that the console filters, sorts and counts by, read from the fingerprint.

One `jsonb_to_record` a row: PostgreSQL unpacks the stored fingerprint once, not once for every fact.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Subquery,
    Text,
    column,
    func,
    literal_column,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB

from service.store.tables import metadata

_CLASS: Final = metadata.tables["device_class"]
_REPORT: Final = metadata.tables["report"]

UNKNOWN: Final = "(unknown)"
"""Stands for a fact that no phone of the class told; no canonical name has brackets."""
NONE: Final = "(none)"
"""Stands for "no accelerator"."""
TRUE: Final[ColumnElement[bool]] = literal_column("true")


def class_facts() -> Subquery:
    """A subquery with a row a device class.

    `device_class`, `first_seen`, `learnable`, `manufacturer`, `model`, `soc`, `soc_vendor`, `api_level`, `ram_gb`,
    `nnapi_level`, `population`, `reports` (how many it has), and three JSON arrays of names: `accelerators` (see
    `_accelerators`), `anomalies` (their codes).
    """
    facts = (
        func.jsonb_to_record(_CLASS.c.fingerprint)
        .table_valued(
            column("manufacturer", Text),
            column("model", Text),
            column("soc", Text),
            column("soc_vendor", Text),
            column("api_level", Integer),
            column("ram_gb", Integer),
            column("nnapi_level", Integer),
            column("population", Text),
            column("accelerators", JSONB),
            column("runtimes", JSONB),
            column("anomalies", JSONB),
        )
        .render_derived(name="facts", with_types=True)
    )
    counted = (
        select(_REPORT.c.device_class, func.count().label("reports")).group_by(_REPORT.c.device_class).subquery("n")
    )
    plain = [c for c in facts.c if c.name not in {"accelerators", "runtimes", "anomalies"}]
    return (
        select(
            _CLASS.c.device_class,
            _CLASS.c.first_seen,
            _CLASS.c.learnable,
            *plain,
            func.coalesce(counted.c.reports, 0).label("reports"),
            _accelerators(facts).label("accelerators"),
            _names(facts.c.anomalies, "$[*].code").label("anomalies"),
        )
        .select_from(_CLASS.join(facts, TRUE).outerjoin(counted, counted.c.device_class == _CLASS.c.device_class))
        .subquery("c")
    )


def _accelerators(facts: FromClause) -> ColumnElement[Any]:
    """What a class can compute on beside CPU and GPU delegate: NNAPI drivers, and vendor runtimes that load."""
    drivers = _names(facts.c.accelerators, '$[*] ? (@.kind != "cpu").name')
    return drivers.op("||", return_type=JSONB())(_names(facts.c.runtimes, '$[*] ? (@.presence == "yes").name'))


def _names(array: ColumnElement[Any], path: str) -> ColumnElement[Any]:
    return func.jsonb_path_query_array(array, literal_column(f"'{path}'::jsonpath"), type_=JSONB)


def or_unknown(fact: ColumnElement[Any]) -> ColumnElement[Any]:
    """The fact as text, unknown named."""
    return func.coalesce(fact.cast(Text), UNKNOWN)


def unfolded(facts: FromClause, names: ColumnElement[Any]) -> Select[Any]:
    """(device_class, reports, value) with a row a distinct name in a JSON array, `NONE` where it is empty."""
    name = func.jsonb_array_elements_text(names).table_valued(column("value", Text)).lateral("name")
    value = func.coalesce(name.c.value, NONE).label("value")
    return select(facts.c.device_class, facts.c.reports, value).select_from(facts.outerjoin(name, TRUE)).distinct()
