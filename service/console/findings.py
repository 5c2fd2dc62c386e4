"""Findings: what detectors see, since when, and how much of the fleet it touches."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, render_template, request
from sqlalchemy import Select, func, select
from sqlmodel import Session
from werkzeug.exceptions import NotFound

from service.console.listing import csv_file, listed, says, wants_csv
from service.console.own_findings import own_evidence, seen_findings, sees_finding
from service.console.paging import stated
from service.context import services
from service.releasing.suspects import suspects
from service.store import class_cohorts, findings
from service.store.tables import FindingRow, metadata

PAGE_SIZE: Final = 25
_FINDING: Final = metadata.tables["finding"]
_LISTED: Final = ("id", "name", "soc", "windows", "first_seen", "last_seen", "looks", "present")


def list_page() -> str | Response:
    """Those that the newest look saw, or all there ever were; by name, SoC and words."""
    wanted = {name: stated(request.args, name) for name in ("q", "name", "soc", "seen")}
    query = _query(**wanted)
    with Session(services().engine) as session:
        if wants_csv():
            return csv_file(session, query, "findings")
        found = listed(session, query, PAGE_SIZE)
        counted = select(_FINDING.c.name, func.count()).where(seen_findings())
        names = session.connection().execute(counted.group_by(_FINDING.c.name).order_by(_FINDING.c.name)).all()
    return render_template("console/findings.html", found=found, wanted=wanted, names=names)


def _query(q: str, name: str, soc: str, seen: str) -> Select[Any]:
    told = _FINDING.c.content
    detail, arms = told["detail"].astext.label("detail"), told["arms"].label("arms")
    p_value = told["p_value"].label("p_value")
    query = select(*(_FINDING.c[column] for column in _LISTED), arms, p_value, detail)
    query = query.where(seen_findings(), says(q, _FINDING.c.name, _FINDING.c.soc, detail, told["arms"].astext))
    query = query if seen == "ever" else query.where(_FINDING.c.present)
    for column, asked in ((_FINDING.c.name, name), (_FINDING.c.soc, soc)):
        query = query.where(column == asked) if asked else query
    return query.order_by(_FINDING.c.present.desc(), _FINDING.c.windows.desc(), _FINDING.c.id)


def finding_page(finding: str) -> str:
    """One finding; raises NotFound."""
    with Session(services().engine) as session:
        row = seen_finding(session, finding)
        told = row.content | {"evidence": own_evidence(session, row.content["evidence"])}
        around = list(suspects(told))
        fleet, sizes = class_cohorts.sizes(session, [suspect.members for suspect in around])
    reach = list(zip(around, sizes, strict=True))
    return render_template("console/finding.html", row=row, told=told, reach=reach, fleet=fleet)


def seen_finding(session: Session, finding: str) -> FindingRow:
    """One finding; raises NotFound, for one of somebody else's app too."""
    row = findings.finding(session, finding)
    if row is None or not sees_finding(row.content):
        raise NotFound(f"There is no finding “{finding}”.")
    return row
