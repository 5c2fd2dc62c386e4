"""Models: what the apps want run, and the files there are for it."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final

from flask import render_template, request
from sqlalchemy import ColumnElement, func, literal_column, select
from sqlmodel import Session

from service.console.coverage_map import coverage_map
from service.console.own_apps import of_own
from service.console.paging import Window, stated, stated_number
from service.console.views import ACCEPTED_MODEL
from service.context import services
from service.store import arm_tallies

PAGE_SIZE: Final = 25
_MODEL: Final = ACCEPTED_MODEL

# Graphs are most of a model's bytes, and the page shows no more of them than how many operations there are.
_VARIANTS: Final[ColumnElement[Any]] = literal_column(
    "(SELECT jsonb_agg((v - 'graph') || jsonb_build_object('operations', jsonb_array_length(v->'graph'->'nodes')))"
    " FROM jsonb_array_elements(accepted_model.spec->'variants') AS v)"
)


def page() -> str:
    """The registered models, by app and name, a page of them."""
    app, text = stated(request.args, "app"), stated(request.args, "q")
    conditions: list[ColumnElement[bool]] = [of_own(_MODEL.c.app), *([_MODEL.c.app == app] if app else [])]
    conditions += [_MODEL.c.name.icontains(word, autoescape=True) for word in text.split()]
    with Session(services().engine) as session:
        connection = session.connection()
        counted = select(_MODEL.c.app, func.count()).where(of_own(_MODEL.c.app))
        apps = connection.execute(counted.group_by(_MODEL.c.app).order_by(_MODEL.c.app))
        known_apps = [(name, number) for name, number in apps]
        total = connection.execute(select(func.count()).select_from(_MODEL).where(*conditions)).scalar_one()
        window = Window.of(stated_number(request.args, "page"), PAGE_SIZE, total)
        facts = _MODEL.c.spec.op("-")("variants").label("facts")
        listed = select(_MODEL.c.app, facts, _VARIANTS.label("variants"), _MODEL.c.updated_at).where(*conditions)
        ordered = listed.order_by(_MODEL.c.app, _MODEL.c.name).offset(window.offset).limit(window.size)
        rows = connection.execute(ordered).all()
        names = [(row.app, row.facts["name"]) for row in rows]
        measured = arm_tallies.of_models(session, names)
    by_app = [(name, list(models)) for name, models in groupby(rows, lambda row: row.app)]
    parts = [(f"{m.app}/{m.model}", m.arm, m.delegated_windows, m.delegated_share_sum) for m in measured]
    return render_template(
        "console/models.html",
        by_app=by_app,
        window=window,
        apps=known_apps,
        app=app,
        text=text,
        covered=coverage_map(parts, ["/".join(name) for name in names]),
    )
