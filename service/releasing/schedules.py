"""Rollouts that begin later: when they may, and what has to be as it was when they were scheduled."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlmodel import Session

from policies.errors import InvalidField
from policies.revision import ACCEPTED, Kind
from policies.rollouts.hours import closed
from policies.rollouts.local_time import LocalTime
from policies.rollouts.rollout import RolloutPlan
from service.store import revisions
from service.store.tables import ReleaseRow, RolloutRow

MOST_AHEAD: Final = timedelta(days=366)


def check_moment(plan: RolloutPlan, at: LocalTime | None, now: datetime) -> None:
    """Raise InvalidField where a rollout cannot begin then: its first step is a step, too, and waits for its hours."""
    if at is not None and not now < at.at <= now + MOST_AHEAD:
        raise InvalidField(
            f"start: {at} is {'over' if at.at <= now else 'more than a year ahead'}",
            field="start",
            limit=MOST_AHEAD.days,
        )
    shut = closed(plan.hours, at.at if at else now)
    if shut:
        when = str(at) if at else "now"
        raise InvalidField(f"start: {when} is outside of the hours: {shut}", field="start")


def changed_since(session: Session, row: RolloutRow, live: ReleaseRow | None) -> str:
    """Why a scheduled rollout is not what it was scheduled as; "" where it is. The caller holds the locks."""
    if live is None or live.content_sha256 != row.control_sha256:
        return "what is live is not what it was when the rollout was scheduled"
    for number in row.candidate_revisions:
        revision = revisions.revision(session, number)
        if revision.kind != Kind.QUARANTINE and revision.state not in ACCEPTED:
            return f"revision {number} is {revision.state} since the rollout was scheduled"
    return ""
