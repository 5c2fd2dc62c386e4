"""Learning runs: what each ranks, whether its gate is open, and what it would change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from flask import Response, render_template, request
from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Session
from werkzeug.exceptions import NotFound

from policies.knowledge import Ranking
from policies.revision import Kind
from policies.vocabulary import Workload
from service.console.charts import Interval, intervals
from service.console.leaders import ORDERS, Leader, Place, chosen, leaders, places
from service.console.listing import csv_file, csv_rows, listed, wants_csv
from service.console.own_apps import own_apps, reader
from service.console.own_findings import sees_finding
from service.console.paging import Window, stated, stated_number
from service.context import services
from service.live import live_release
from service.releasing.release_content import Rankings
from service.store.findings import finding_id
from service.store.revisions import MAX_NUMBER
from service.store.tables import metadata

PAGE_SIZE: Final = 25
_RUN: Final = metadata.tables["recommendation"]
_REVISION: Final = metadata.tables["revision"]
CHANGES: Final = ("leads anew", "new", "stays")
_COLUMNS: Final = (
    "stack", "app", "model", "arm", "before", "factor", "expected_ms", "low_ms", "high_ms", "n", "share_bp", "explored_bp",
)  # fmt: skip


def list_page() -> str | Response:
    """The runs, the newest first, with their gates and what became of them."""
    with Session(services().engine) as session:
        if wants_csv():
            return csv_file(session, _runs(), "learning-runs")
        found = listed(session, _runs(), PAGE_SIZE)
    return render_template("console/recommendations.html", found=found)


def _runs() -> Select[Any]:
    number = _REVISION.c.content["recommendation"].as_integer()
    revision = select(_REVISION.c.number, _REVISION.c.state, number.label("run"))
    proposed = revision.where(_REVISION.c.kind == Kind.RECOMMENDATION).subquery("proposed")
    told = _RUN.c.figures
    figures = [told[name].label(name) for name in ("rankings", "stacks", "cells_measured", "seconds")]
    findings = func.jsonb_array_length(told["findings"]).label("findings")
    joined = _RUN.outerjoin(proposed, proposed.c.run == _RUN.c.id)
    query = select(
        _RUN.c.id, _RUN.c.made_at, *figures, _gate().label("gate"), findings, proposed.c.number, proposed.c.state
    )
    return query.select_from(joined).order_by(_RUN.c.id.desc())


def _gate() -> ColumnElement[Any]:
    """Whether it is open, and why: that names models of all apps."""
    gate = _RUN.c.figures["gate"]
    if own_apps() is None:
        return gate
    return func.jsonb_strip_nulls(func.jsonb_build_object("passes", gate["passes"]), type_=JSONB)


def run_page(number: int) -> str | Response:
    """One run; raises NotFound."""
    with Session(services().engine) as session:
        row = session.connection().execute(_one(number)).first() if number <= MAX_NUMBER else None
    rankings = services().learned_runs.rankings(number) if row else None
    if row is None or rankings is None:
        raise NotFound(f"There is no learning run {number}.")
    content = live_release()
    live: Rankings = content.rankings if content else {}
    rankings = _own(rankings)
    every = list(leaders(rankings, live))
    wanted = {name: stated(request.args, name) for name in ("q", "change", "sort")}
    if wanted["sort"].removeprefix("-") not in ORDERS:
        wanted["sort"] = "gain"
    found = chosen(every, wanted["q"], wanted["change"], wanted["sort"])
    if wants_csv():
        return csv_rows(_COLUMNS, ([getattr(leader, name) for name in _COLUMNS] for leader in found), f"run-{number}")
    window = Window.of(stated_number(request.args, "page"), PAGE_SIZE, len(found))
    shown = found[window.offset : window.last]
    return render_template(
        "console/recommendation.html",
        row=row,
        gate=row.figures.get("gate") or {},
        findings=[told for told in row.figures.get("findings") or [] if sees_finding(told)],
        every_app=own_apps() is None,
        wanted=wanted,
        counts=Counter(leader.change for leader in every),
        changes=CHANGES,
        window=window,
        drawn=list(zip(shown, _intervals(shown), strict=True)),
        asked=_asked(rankings),
        release=content.number if content else None,
        finding_id=finding_id,
    )


def _own(rankings: Rankings) -> Rankings:
    """The rankings of the visitor's apps."""
    if own_apps() is None:
        return rankings
    return {
        stack: {app: models for app, models in by_app.items() if reader().sees(app)}
        for stack, by_app in rankings.items()
    }


def _one(number: int) -> Select[Any]:
    return _runs().add_columns(_RUN.c.figures).where(_RUN.c.id == number)


def _intervals(shown: list[Leader]) -> list[Interval]:
    return intervals([(leader.expected_ms, leader.low_ms, leader.high_ms) for leader in shown])


def _asked(rankings: Rankings) -> dict[str, Any] | None:
    """The rankings of the driver stack and model that the address names, by workload; None where it names none that there is."""
    stack, (app, _, model) = stated(request.args, "stack"), stated(request.args, "model").partition("/")
    by_workload = rankings.get(stack, {}).get(app, {}).get(model)
    if by_workload is None:
        return None
    told = {workload: _told(by_workload[workload]) for workload in map(str, Workload) if workload in by_workload}
    return {"stack": stack, "app": app, "model": model, "workloads": told}


def _told(raw: Mapping[str, Any]) -> tuple[list[tuple[Place, Interval]], Mapping[str, str]]:
    ranking = Ranking.from_json(raw)
    found = places(ranking)
    drawn = intervals([(place.of.expected_ms, place.low_ms, place.high_ms) for place in found])
    return list(zip(found, drawn, strict=True)), ranking.excluded
