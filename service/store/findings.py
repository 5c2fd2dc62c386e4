"""Findings as rows: what detectors saw, since when, and whether they still see it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, select

from service.store.tables import FindingRow

Told = Mapping[str, Any]
"""A finding as `ml.findings.Finding.to_json` tells it."""


def finding_id(told: Told) -> str:
    """What a finding is called: the same from look to look for the same fault on the same SoC and arms, and of the same
    model where it is of one.
    """
    names = "|".join([told["name"], told["soc"], *told["arms"], *(value for _, value in sorted(_of(told).items()))])
    return f"{told['name']}-{hashlib.sha256(names.encode()).hexdigest()[:12]}"


def _of(told: Told) -> Mapping[str, str]:
    """What else it is stated for; findings of before had nothing of the kind."""
    of: Mapping[str, str] = told.get("of", {})
    return of


def note(session: Session, found: Iterable[Told], now: datetime, recommendation: int | None = None) -> None:
    """Note all that one look found; what it no longer found is not present any more."""
    told = {finding_id(finding): finding for finding in found}
    gone = update(FindingRow).where(col(FindingRow.present), col(FindingRow.id).not_in(told))
    session.execute(gone.values(present=False))
    for name, finding in sorted(told.items()):
        session.execute(_upsert(name, finding, now, recommendation))


def _upsert(name: str, finding: Told, now: datetime, recommendation: int | None) -> Any:
    seen = {
        "windows": finding["windows"], "content": dict(finding), "last_seen": now, "present": True,
        "recommendation": recommendation,
    }  # fmt: skip
    new = {"id": name, "name": finding["name"], "soc": finding["soc"], "first_seen": now, "looks": 1} | seen
    again = seen | {"looks": FindingRow.looks + 1}
    return insert(FindingRow).values(**new).on_conflict_do_update(index_elements=["id"], set_=again)


def page(session: Session, ever: bool, size: int) -> Sequence[FindingRow]:
    """Those that the newest look saw, or all there `ever` were; the present ones first, then by windows."""
    query = select(FindingRow) if ever else select(FindingRow).where(FindingRow.present)
    order = col(FindingRow.present).desc(), col(FindingRow.windows).desc(), col(FindingRow.id)
    return session.exec(query.order_by(*order).limit(size)).all()


def finding(session: Session, name: str) -> FindingRow | None:
    """One finding; None where none was ever called that."""
    return session.get(FindingRow, name)
