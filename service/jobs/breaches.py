"""Rollouts that stopped themselves, as findings: what a guardrail saw is evidence like a detector's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlmodel import Session

from ml.findings import Finding
from ml.findings.finding import ANY
from policies.rollouts.rollout import State
from service.store import rollouts
from service.store.tables import RolloutRow

KEEP: Final = timedelta(days=30)
"""How long a rollout that was stopped stays among the findings."""
MOST: Final = 100


def breaches(session: Session, now: datetime) -> list[Finding]:
    """One finding a rollout that was stopped, the newest last. Evidence of e is a p value of 1 ÷ e or less, however often
    it was looked at (Ville 1939).
    """
    ended = [row for row in rollouts.newest(session, MOST) if row.state == State.STOPPED and row.judgement]
    return [_finding(row, row.judgement or {}) for row in reversed(ended) if row.ended_at and row.ended_at > now - KEEP]


def _finding(row: RolloutRow, judgement: Mapping[str, Any]) -> Finding:
    breached = [reading for reading in judgement["readings"] if reading["breached"]]
    worst = max(breached, key=lambda reading: reading["evidence_log10"])
    fact, _, name = worst["cohort"].partition(" ")
    detail = (
        f"rollout {row.number} was stopped: {worst['measure']} was {worst['cohort_ratio']:g} × the control's on "
        f"{worst['cohort']}, over the limit of {worst['stop_over']:g} ×"
    )
    return Finding(
        "rollout-breach",
        name if fact == "soc" else ANY,
        ANY,
        "",
        min(1.0, 10 ** -worst["evidence_log10"]),
        judgement["candidate_windows"],
        detail,
        tuple({"rollout": row.number, "step": row.step, **reading} for reading in breached),
    )
