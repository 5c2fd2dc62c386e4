"""Long tables: a page of rows for reading, or the same rows as a CSV file for everything else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from flask import Response, request
from sqlalchemy import ColumnElement, Row, Select, and_, func
from sqlmodel import Session

from service.console.paging import Window, stated, stated_number
from service.csv_text import csv_text

MOST_CSV_ROWS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Listed:
    """The rows of one page, and which page it is."""

    rows: Sequence[Row[Any]]
    window: Window


def listed(session: Session, query: Select[Any], size: int) -> Listed:
    """The page that the address asks for, of an ordered query. Two queries."""
    connection = session.connection()
    counted = query.with_only_columns(func.count(), maintain_column_froms=True).order_by(None)
    window = Window.of(stated_number(request.args, "page"), size, connection.execute(counted).scalar_one())
    return Listed(connection.execute(query.offset(window.offset).limit(window.size)).all(), window)


def says(text: str, *columns: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether each word of a text stands in one of the columns, which are searched as one."""
    searched = func.concat_ws(" ", *columns)
    return and_(True, *(searched.icontains(word, autoescape=True) for word in text.split()))


def wants_csv() -> bool:
    """Whether the address asks for a file instead of a page."""
    return stated(request.args, "format") == "csv"


def csv_file(session: Session, query: Select[Any], name: str) -> Response:
    """The first `MOST_CSV_ROWS` rows of an ordered query, under the names of its columns."""
    result = session.connection().execute(query.limit(MOST_CSV_ROWS))
    return csv_rows([*result.keys()], result, name)


def csv_rows(columns: Sequence[str], rows: Iterable[Sequence[Any]], name: str) -> Response:
    """These rows, at most `MOST_CSV_ROWS` of them, as a file."""
    written = csv_text(columns, islice(rows, MOST_CSV_ROWS))
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(written, mimetype="text/csv", headers=headers)
