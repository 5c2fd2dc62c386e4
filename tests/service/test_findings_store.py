"""Findings as rows: the same fault is one row, from the first look that saw it to the last."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine
from sqlmodel import Session

from service.store.findings import finding, finding_id, note
from service.store.tables import FindingRow

FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def told(**changes: Any) -> dict[str, Any]:
    return {
        "name": "crash", "soc": "sm8650", "arms": ["int8.*.qnn"], "p_value": 1e-6, "windows": 12, "detail": "12 of 40",
        "evidence": [], "quarantine": {"soc": "sm8650", "target": "qnn", "precision": "int8"},
    } | changes  # fmt: skip


def looked(engine: Engine, at: datetime, *found: dict[str, Any], run: int | None = None) -> None:
    with Session(engine) as session, session.begin():
        note(session, found, at, run)


def stored(engine: Engine, which: dict[str, Any]) -> FindingRow:
    with Session(engine, expire_on_commit=False) as session:
        row = finding(session, finding_id(which))
        assert row is not None
        return row


def test_a_fault_that_is_seen_again_keeps_its_first_day_and_tells_its_newest_figures(engine: Engine) -> None:
    looked(engine, FIRST, told(), run=1)
    looked(engine, FIRST + HOUR, told(windows=30, detail="30 of 90"), run=2)
    row = stored(engine, told())
    assert (row.first_seen, row.last_seen, row.looks) == (FIRST, FIRST + HOUR, 2)
    assert (row.windows, row.content["detail"], row.recommendation, row.present) == (30, "30 of 90", 2, True)


def test_a_fault_that_the_newest_look_does_not_see_is_kept_and_not_present(engine: Engine) -> None:
    looked(engine, FIRST, told(), told(soc="sm8550"))
    looked(engine, FIRST + HOUR, told(soc="sm8550"))
    gone = stored(engine, told())
    assert (gone.present, gone.last_seen) == (False, FIRST)
    assert stored(engine, told(soc="sm8550")).present
    looked(engine, FIRST + 2 * HOUR)
    assert not stored(engine, told(soc="sm8550")).present


def test_another_soc_or_other_arms_are_another_finding() -> None:
    names = {
        finding_id(told(**changes)) for changes in ({}, {"soc": "sm8550"}, {"arms": ["*.*.qnn"]}, {"name": "hang"})
    }
    assert len(names) == 4
    assert finding_id(told(windows=99)) == finding_id(told())
