"""Rollouts: how far each is, what guards it, and what happened."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from flask import render_template
from sqlalchemy import Text, select
from sqlmodel import Session

from policies.rollouts.rollout import RolloutPlan
from service.console import rollout_lines
from service.console.listing import listed
from service.context import services
from service.store import rollouts
from service.store.tables import metadata

PAGE_SIZE: Final = 25
_ROLLOUT: Final = metadata.tables["rollout"]


def list_page() -> str:
    """The history, the newest first."""
    plain = [_ROLLOUT.c[n] for n in ("number", "state", "note", "author", "step", "started_at", "ended_at")]
    steps = _ROLLOUT.c.plan["steps"].label("steps")
    because = _ROLLOUT.c.timeline[-1]["because"].astext.cast(Text).label("because")
    query = select(*plain, steps, because).order_by(_ROLLOUT.c.number.desc())
    with Session(services().engine) as session:
        found = listed(session, query, PAGE_SIZE)
    return render_template("console/rollouts.html", found=found, share_now_bp=rollout_lines.share_now_bp)


def rollout_page(number: int) -> str:
    """One rollout; raises UnknownRollout."""
    with Session(services().engine) as session:
        row = rollouts.rollout(session, number)
    plan = RolloutPlan.model_validate(row.plan)
    happened = rollout_lines.events(row.timeline)
    carried, kept = {*row.candidate_revisions}, {*row.control_revisions}
    return render_template(
        "console/rollout.html",
        row=row,
        plan=plan,
        steps=rollout_lines.steps(plan, row.state, row.step, happened),
        share_bp=rollout_lines.share_now_bp(row.state, plan.steps[row.step].share_bp),
        guardrails=list(rollout_lines.guardrails(plan, row.judgement)),
        happened=happened,
        judged_at=datetime.fromisoformat(row.judgement["at"]) if row.judgement else None,
        new=sorted(carried - kept),
        gone=sorted(kept - carried),
    )
