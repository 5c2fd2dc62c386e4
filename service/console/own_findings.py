"""What of the findings is the visitor's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, func, or_, select, true
from sqlmodel import Session

from service.console.own_apps import of_own, own_apps, reader
from service.console.views import ACCEPTED_MODEL
from service.store.tables import metadata

_FINDING: Final = metadata.tables["finding"]
BREACH: Final = "rollout-breach"


def seen_findings() -> ColumnElement[bool]:
    """Findings of drivers, and of models of the visitor's apps. A breach names what a rollout may have of other apps."""
    if own_apps() is None:
        return true()
    model = func.coalesce(_FINDING.c.content["quarantine"]["model"].astext, "")
    return (_FINDING.c.name != BREACH) & or_(model == "", of_own(func.split_part(model, "/", 1)))


def sees_finding(told: Mapping[str, Any]) -> bool:
    """The same of a finding as it is told."""
    model = (told.get("quarantine") or {}).get("model", "")
    return own_apps() is None or (told["name"] != BREACH and (not model or reader().sees(model.partition("/")[0])))


def own_evidence(session: Session, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The evidence that names no model of other apps. Names that two apps have are left out."""
    apps = own_apps()
    if apps is None:
        return rows
    theirs = select(ACCEPTED_MODEL.c.name).group_by(ACCEPTED_MODEL.c.name)
    names = set(session.connection().execute(theirs.having(func.bool_and(of_own(ACCEPTED_MODEL.c.app)))).scalars())
    return [row for row in rows if "model" not in row or str(row["model"]).rpartition("/")[2] in names]
