"""Find device classes: filters, order and page are the database's work, each a scan of the narrow table of facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from sqlalchemy import ColumnElement, FromClause, Row, Text, any_, func, literal, or_, select, text
from sqlmodel import Session

from service.console.paging import Window, stated, stated_number
from service.store import class_facts
from service.store.class_facts import NONE, UNKNOWN, Tally
from service.store.tables import metadata

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
FILTERS: Final = {**_FACT_FILTERS, **_NAME_FILTERS}
"""A filter → the fact it is about."""
_IN_MEMORY: Final = text("SET LOCAL work_mem = '32MB'")
"""PostgreSQL's usual 4 MB do not hold the order of 100,000 classes, and would send the last pages over the disk."""
_TABLE: Final = metadata.tables["class_facts"]
_FACTS: Final = _TABLE.c


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
    """The classes that pass all filters. Two queries, and a setting."""
    conditions = list(_conditions(wanted))
    connection = session.connection()
    connection.execute(_IN_MEMORY)
    total = connection.execute(select(func.count()).select_from(_TABLE).where(*conditions)).scalar_one()
    window = Window.of(wanted.page, PAGE_SIZE, total)
    # Sorted are ids with their key alone; the other facts are looked up for those that are shown. The nearer end is
    # counted from: the last page costs what the first does.
    from_end = window.offset > window.total // 2
    skipped = window.total - window.last if from_end else window.offset
    keys = select(_FACTS.device_class, _FACTS[ORDERS[wanted.order.removeprefix("-")]].label("key")).where(*conditions)
    every = keys.subquery("every")
    near = select(every).order_by(*_order(wanted.order, every, backwards=from_end)).offset(skipped)
    page = near.limit(window.last - window.offset).subquery("page")
    rows = select(_TABLE).join(page, page.c.device_class == _FACTS.device_class).order_by(*_order(wanted.order, page))
    return Found(connection.execute(rows).all(), window)


def _conditions(wanted: Wanted) -> list[ColumnElement[bool]]:
    found = [_is(_FACTS[_FACT_FILTERS[k]], v) for k, v in wanted.filters.items() if k in _FACT_FILTERS]
    found += [_has(_FACTS[_NAME_FILTERS[k]], v) for k, v in wanted.filters.items() if k in _NAME_FILTERS]
    return found + [_says(word) for word in wanted.text.split()]


def _is(fact: ColumnElement[Any], value: str) -> ColumnElement[bool]:
    return fact.is_(None) if value == UNKNOWN else fact.cast(Text) == value


def _says(word: str) -> ColumnElement[bool]:
    """Whether a word stands in maker, model or SoC. The id counts from its start: any "07" stands in some id."""
    names = _FACTS.words.contains(word.lower(), autoescape=True)
    if len(word) < MIN_ID_CHARACTERS:
        return names
    return or_(names, _FACTS.device_class.startswith(word.lower(), autoescape=True))


def _has(names: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return func.cardinality(names) == 0 if name == NONE else literal(name, Text) == any_(names)


def _order(order: str, keys: FromClause, *, backwards: bool = False) -> list[ColumnElement[Any]]:
    descending = order.startswith("-") != backwards
    first = keys.c.key.desc() if descending else keys.c.key.asc()
    # The id last: pages never overlap. By its bytes, for most keys are equal and a language's order is slow to compare.
    device_class = keys.c.device_class.collate("C")
    if backwards:
        return [first.nulls_first(), device_class.desc()]
    return [first.nulls_last(), device_class.asc()]


def choices(session: Session) -> dict[str, list[Tally]]:
    """Values of every filter over the whole fleet and how many classes have them, by filter. One query."""
    known = class_facts.tallies(session)
    return {name: sorted(known.get(fact, ()), key=_by_value) for name, fact in FILTERS.items()}


def _by_value(tally: Tally) -> tuple[int, str]:
    """Numbers by what they are, words by the alphabet."""
    return len(tally.value) if tally.value.isdecimal() else 0, tally.value
