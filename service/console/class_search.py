"""Find device classes: filters, order and page are the database's work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from sqlalchemy import ColumnElement, FromClause, Row, func, literal, or_, select, union_all
from sqlmodel import Session

from service.console.class_facts import NONE, class_facts, or_unknown, unfolded
from service.console.paging import Window, stated, stated_number

PAGE_SIZE: Final = 25
MIN_ID_CHARACTERS: Final = 4
ORDERS: Final = {
    "model": "model",
    "soc": "soc",
    "api": "api_level",
    "nnapi": "nnapi_level",
    "reports": "reports",
    "seen": "first_seen",
}
"""What a list can be sorted by → its column."""
DEFAULT_ORDER: Final = "-reports"

_FACT_FILTERS: Final = {"soc": "soc", "vendor": "soc_vendor", "api": "api_level", "population": "population"}
_NAME_FILTERS: Final = {"accelerator": "accelerators", "anomaly": "anomalies"}
FILTERS: Final = (*_FACT_FILTERS, *_NAME_FILTERS)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address asks for. `order` is a key of `ORDERS`, with a "-" before it for descending."""

    text: str
    filters: Mapping[str, str]
    order: str
    page: int | None

    @classmethod
    def from_query(cls, args: Mapping[str, str]) -> Self:
        """Total: what cannot be meant is left out."""
        order = stated(args, "sort")
        filters = {name: stated(args, name) for name in FILTERS}
        return cls(
            stated(args, "q"),
            {name: value for name, value in filters.items() if value},
            order if order.removeprefix("-") in ORDERS else DEFAULT_ORDER,
            stated_number(args, "page"),
        )


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of one page, and which page it is."""

    rows: Sequence[Row[Any]]
    window: Window


def search(session: Session, wanted: Wanted) -> Found:
    """The classes that pass all filters. Two queries."""
    facts = class_facts()
    conditions = list(_conditions(facts, wanted))
    connection = session.connection()
    total = connection.execute(select(func.count()).select_from(facts).where(*conditions)).scalar_one()
    window = Window.of(wanted.page, PAGE_SIZE, total)
    page = select(facts).where(*conditions).order_by(*_order(facts, wanted.order))
    return Found(connection.execute(page.offset(window.offset).limit(window.size)).all(), window)


def _conditions(facts: FromClause, wanted: Wanted) -> list[ColumnElement[bool]]:
    found = [or_unknown(facts.c[_FACT_FILTERS[k]]) == v for k, v in wanted.filters.items() if k in _FACT_FILTERS]
    found += [_has(facts.c[_NAME_FILTERS[k]], v) for k, v in wanted.filters.items() if k in _NAME_FILTERS]
    return found + [_says(facts, word) for word in wanted.text.split()]


def _says(facts: FromClause, word: str) -> ColumnElement[bool]:
    """Whether a word stands in maker, model or SoC. The id counts from its start: any "07" stands in some id."""
    names = func.concat_ws(" ", facts.c.manufacturer, facts.c.model, facts.c.soc).icontains(word, autoescape=True)
    if len(word) < MIN_ID_CHARACTERS:
        return names
    return or_(names, facts.c.device_class.startswith(word.lower(), autoescape=True))


def _has(names: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    if name == NONE:
        return func.jsonb_array_length(names) == 0
    return func.jsonb_exists(names, name)


def _order(facts: FromClause, order: str) -> list[ColumnElement[Any]]:
    column = facts.c[ORDERS[order.removeprefix("-")]]
    first = column.desc() if order.startswith("-") else column.asc()
    return [first.nulls_last(), facts.c.device_class.asc()]  # the id last: pages never overlap


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that a filter can take and how many classes have it."""

    value: str
    device_classes: int


def choices(session: Session) -> dict[str, list[Choice]]:
    """Values of every filter over the whole fleet, by filter. One query."""
    known = select(class_facts()).cte("known")
    parts = [
        _valued(name, select(or_unknown(known.c[column]).label("value")).subquery())
        for name, column in _FACT_FILTERS.items()
    ]
    parts += [_valued(name, unfolded(known, known.c[column]).subquery()) for name, column in _NAME_FILTERS.items()]
    found: defaultdict[str, list[Choice]] = defaultdict(list)
    for name, value, number in session.connection().execute(union_all(*parts)):
        found[name].append(Choice(value, number))
    for values in found.values():
        values.sort(key=lambda choice: (len(choice.value) if choice.value.isdecimal() else 0, choice.value))
    return found


def _valued(name: str, values: FromClause) -> Any:
    return select(literal(name).label("filter"), values.c.value, func.count().label("classes")).group_by(values.c.value)
