"""Staged rollouts: started and steered by people, moved on or stopped by the guard. All state is in the database.

The guard may run anywhere, any number of times, and die at any moment: what it does to a rollout and the release that
follows from it are one transaction, and what it judges by is read anew from telemetry.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Engine
from sqlmodel import Session

from policies.errors import NothingToRollOut
from policies.revision import Kind
from policies.revision import Step as RevisionStep
from policies.rollouts.guardrails import Judgement, judge
from policies.rollouts.hours import closed
from policies.rollouts.local_time import LocalTime
from policies.rollouts.rollout import Act, RolloutPlan, State, after
from service.identity.actor import GUARD
from service.releasing.publishing import in_force, next_content, numbers_of, quarantines_of, release, return_content
from service.releasing.revisions import go_live
from service.releasing.schedules import changed_since, check_moment
from service.store import audit, releases, revisions, rollouts
from service.store.models import all_models
from service.store.releases import NewRelease
from service.store.tables import RolloutRow

CRASH_GRACE: Final = timedelta(hours=2)
"""A start that no window follows for so long is a crash."""


def start(
    engine: Engine, plan: RolloutPlan, note: str, author: str, now: datetime, at: LocalTime | None = None
) -> RolloutRow:
    """Begin a rollout of what is approved against what is live, now or, by the guard, `at` a moment to come.

    Raises RolloutActive, NothingToRollOut, and InvalidField for a moment that is over or outside of the plan's hours.
    """
    check_moment(plan, at, now)
    with Session(engine, expire_on_commit=False) as session, session.begin():
        releases.begin_release(session)
        rollouts.refuse_where_one_is_ahead(session)
        live = releases.newest(session)
        if live is None:
            raise NothingToRollOut("nothing is live yet: the first release goes to all")
        carried, digest = next_content(session, author, now)
        if digest == live.content_sha256:
            raise NothingToRollOut("what is approved is what is live")
        row = RolloutRow(
            state=State.SCHEDULED,
            note=note,
            author=author,
            plan=plan.model_dump(mode="json"),
            control_sha256=live.content_sha256,
            control_revisions=live.revisions,
            candidate_sha256=digest,
            candidate_revisions=numbers_of(carried),
            cohorts={},
            step=0,
            step_release=live.number,
            step_started_at=now,
            starts_at=at.at if at else None,
            zone=at.zone if at else None,
            timeline=[],
        )
        session.add(row)
        session.flush()
        if at is None:
            _begin(session, row, author, now)
        else:
            _note(session, row, now, author, "rollout-scheduled", starts_at=str(at))
        return row


def _begin(session: Session, row: RolloutRow, author: str, now: datetime) -> None:
    row.state = after(State(row.state), Act.BEGIN)
    row.cohorts = {"soc": rollouts.socs(session), "model": [f"{m.app}.{m.name}" for m in all_models(session)]}
    row.started_at = row.step_started_at = now
    _publish_step(session, row, author, now, "rollout-started")


def begin_due(engine: Engine, now: datetime) -> None:
    """Begin the rollout whose time has come, or call it off where what it was scheduled for is not what there is."""
    with Session(engine) as session:
        if rollouts.due(session, now) is None:
            return
    with Session(engine) as session, session.begin():
        releases.begin_release(session)
        row = rollouts.due(session, now, lock=True)
        if row is None or closed(RolloutPlan.model_validate(row.plan).hours, now):
            return  # a worker that comes late waits for the next hours
        live = releases.newest(session)
        revisions.lock(session)
        why = changed_since(session, row, live)
        if live is None or why:
            row.state = after(State(row.state), Act.CALL_OFF)
            _end(session, row, GUARD.name, now, "rollout-called-off", None, why)
        else:
            row.control_revisions = live.revisions
            _begin(session, row, GUARD.name, now)


def steer(engine: Engine, number: int, act: Act, note: str, author: str, now: datetime) -> RolloutRow:
    """Pause, resume or abort. Raises UnknownRollout and WrongState."""
    with Session(engine, expire_on_commit=False) as session, session.begin():
        releases.begin_release(session)
        row = rollouts.rollout(session, number)
        before, row.state = State(row.state), after(State(row.state), act)
        if act is Act.ABORT and before is State.SCHEDULED:
            _end(session, row, author, now, "rollout-aborted", None, note)
        elif act is Act.ABORT:
            _go_back(session, row, author, now, "rollout-aborted", note)
        else:
            _note(session, row, now, author, f"rollout-{act}", because=note)
        return row


def guard(engine: Engine, now: datetime, crash_grace: timedelta = CRASH_GRACE) -> Judgement | None:
    """Begin what is due, then judge the active rollout and do what follows; None where there is none."""
    begin_due(engine, now)
    with Session(engine) as session:
        row = rollouts.active(session)
        if row is None:
            return None
        judged = _judged(session, row, now, crash_grace)
        seen = (row.number, row.state, row.step)
    with Session(engine) as session, session.begin():
        releases.begin_release(session)
        row = rollouts.active(session, lock=True)
        # Somebody else may have moved it while telemetry was read: then this judgement is of another step.
        if row is not None and (row.number, row.state, row.step) == seen:
            _act(session, row, judged, now)
    return judged


def _judged(session: Session, row: RolloutRow, now: datetime, crash_grace: timedelta) -> Judgement:
    plan = RolloutPlan.model_validate(row.plan)
    minutes = (now - row.step_started_at).total_seconds() / 60
    strata = rollouts.strata(session, row, now - crash_grace)
    shut = closed(plan.hours, now)
    return judge(plan, State(row.state), row.step, minutes, row.step_release, strata, row.cohorts, shut)


def _act(session: Session, row: RolloutRow, judged: Judgement, now: datetime) -> None:
    row.judgement = judged.to_json() | {"at": now.isoformat()}
    session.add(row)
    if judged.act is None:
        return
    row.state = after(State(row.state), judged.act)
    _ACTIONS[judged.act](session, row, judged, now)
    # What it was done on stays with it: the judgement of the rollout is that of the last look only.
    *before, last = row.timeline
    row.timeline = [*before, last | {"readings": row.judgement["readings"]}]


def _advance(session: Session, row: RolloutRow, judged: Judgement, now: datetime) -> None:
    row.step += 1
    row.step_started_at = now
    _publish_step(session, row, GUARD.name, now, "rollout-advanced", judged.because)


def _complete(session: Session, row: RolloutRow, judged: Judgement, now: datetime) -> None:
    revisions.lock(session)
    carried = list(row.candidate_revisions)
    number, _ = return_content(session, row.candidate_sha256, carried, row.note, GUARD.name, now, "rollout-released")
    go_live(session, [revisions.revision(session, n) for n in carried])
    _end(session, row, GUARD.name, now, "rollout-succeeded", number, judged.because)


def _stop(session: Session, row: RolloutRow, judged: Judgement, now: datetime) -> None:
    _go_back(session, row, GUARD.name, now, "rollout-stopped", judged.because)


_ACTIONS: Final = {Act.ADVANCE: _advance, Act.COMPLETE: _complete, Act.STOP: _stop}


def _publish_step(
    session: Session, row: RolloutRow, author: str, now: datetime, what: str, because: str | None = None
) -> None:
    """The release that gives the step's share the candidate."""
    share_bp = RolloutPlan.model_validate(row.plan).steps[row.step].share_bp
    revisions.lock(session)
    held = [found for found in in_force(session, now.date()) if found.kind == Kind.QUARANTINE]
    go_live(session, held)
    new = NewRelease(
        row.control_sha256,
        row.note,
        author,
        row.control_revisions,
        quarantines_of(held),
        candidate_sha256=row.candidate_sha256,
        share_bp=share_bp,
        rollout=row.number,
    )
    row.step_release = release(session, new, now, "rollout-step-published", rollout=row.number, share_bp=share_bp)
    _note(session, row, now, author, what, because=because, share_bp=share_bp, release=row.step_release)


def _go_back(session: Session, row: RolloutRow, author: str, now: datetime, what: str, because: str) -> None:
    """The control for everybody. What only the candidate had is rolled back: the next release does not bring it again."""
    revisions.lock(session)
    control = list(row.control_revisions)
    number, kept = return_content(session, row.control_sha256, control, because[:500], author, now, "rollout-undone")
    left = sorted({*row.candidate_revisions} - {*control} - kept)
    revisions.take(session, left, RevisionStep.ROLL_BACK)
    _end(session, row, author, now, what, number, because)


def _end(
    session: Session, row: RolloutRow, author: str, now: datetime, what: str, number: int | None, because: str
) -> None:
    row.ended_at = now
    _note(session, row, now, author, what, because=because, release=number)


def _note(session: Session, row: RolloutRow, now: datetime, author: str, what: str, **detail: Any) -> None:
    told = {name: value for name, value in detail.items() if value is not None}
    row.timeline = [*row.timeline, {"at": now.isoformat(), "what": what, "by": author, **told}]
    session.add(row)
    session.flush()
    audit.append(session, now, author, what, f"rollout:{row.number}", **told)
