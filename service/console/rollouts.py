"""Rollouts: how far each is, what guards it, and what happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from flask import Response, render_template
from flask.typing import ResponseReturnValue
from sqlalchemy import Text, case, select
from sqlmodel import Session
from werkzeug.exceptions import NotFound

from policies.errors import InvalidInput, UnclearTime, UnknownRollout
from policies.rollouts.hours import opens
from policies.rollouts.local_time import LocalTime
from policies.rollouts.rollout import BY_PERSONS, TRANSITIONS, Act, RolloutPlan, State
from service import clock
from service.console import rollout_form, rollout_lines
from service.console.forms import check_word, done, said_why
from service.console.listing import listed
from service.console.own_apps import reader, seen
from service.console.own_releases import seen_rollouts, told_rollouts
from service.console.watching import over
from service.context import services
from service.releasing.rollouts import start, steer
from service.store import releases, revisions, rollouts
from service.store.tables import RolloutRow, metadata
from service.web.door import actor

PAGE_SIZE: Final = 25
_ROLLOUT: Final = metadata.tables["rollout"]
_REVISION: Final = metadata.tables["revision"]


def list_page() -> str:
    """The history, the newest first."""
    return _list({}, {}, [])


def _list(asked: Mapping[str, str], errors: Mapping[str, str], choices: Sequence[str]) -> str:
    """The page, with what was asked for and what is wrong with it; `choices` are the two moments that could be meant."""
    plain = [
        _ROLLOUT.c[n] for n in ("number", "state", "author", "step", "started_at", "starts_at", "zone", "ended_at")
    ]
    steps = _ROLLOUT.c.plan["steps"].label("steps")
    told = {"note": _ROLLOUT.c.note, "because": _ROLLOUT.c.timeline[-1]["because"].astext.cast(Text)}
    words = [case((told_rollouts(), said), else_=None).label(name) for name, said in told.items()]
    query = select(*plain, steps, *words).where(seen_rollouts()).order_by(_ROLLOUT.c.number.desc())
    with Session(services().engine) as session:
        found = listed(session, query, PAGE_SIZE)
        live = releases.newest(session)
        waiting = revisions.approved(session)
        active = rollouts.ahead(session)
    return render_template(
        "console/rollouts.html",
        found=found,
        share_now_bp=rollout_lines.share_now_bp,
        live=live,
        waiting=waiting,
        active=active,
        usual=RolloutPlan(),
        asked=asked,
        errors=errors,
        choices=choices,
        now=clock.now(),
    )


def begin() -> ResponseReturnValue:
    """Begin to roll out what is approved, by the steps that the form states, or schedule it."""
    try:
        form = rollout_form.of_form()
        row = start(services().engine, form.plan, form.note, actor().name, clock.now(), form.at)
    except InvalidInput as error:
        choices = error.choices if isinstance(error, UnclearTime) else []
        return _list(
            rollout_form.kept(), {rollout_form.place(error): error.detail.removeprefix(f"{error.field}: ")}, choices
        ), 422
    what = f"begins {form.at}" if form.at else f"has begun, with release {row.step_release}"
    return done(f"Rollout {row.number} {what}.", "rollout", number=row.number)


_DONE: Final = {Act.PAUSE: "is paused", Act.RESUME: "goes on", Act.ABORT: "is aborted: everybody has the control again"}


def take(number: int, act: str) -> ResponseReturnValue:
    """Pause, resume or abort a rollout."""
    taken = next((known for known in BY_PERSONS if known == act), None)
    if taken is None:
        raise NotFound(f"Nobody can {act} a rollout.")
    if taken is Act.ABORT:
        check_word(str(number))
    steer(services().engine, number, taken, said_why(), actor().name, clock.now())
    return done(f"Rollout {number} {_DONE[taken]}.", "rollout", number=number)


def rollout_page(number: int) -> str | Response:
    """One rollout; raises UnknownRollout, for one of somebody else's apps too."""
    with Session(services().engine) as session:
        row = rollouts.rollout(session, number)
        told = _told(session, row)
        own = _own(session, {*row.candidate_revisions, *row.control_revisions})
    state = f"{row.state}, step {row.step + 1}"
    if (fresh := over(state)) is not None:
        return fresh
    plan = RolloutPlan.model_validate(row.plan)
    happened = rollout_lines.events(row.timeline, told=told)
    carried, kept = own & {*row.candidate_revisions}, own & {*row.control_revisions}
    return render_template(
        "console/rollout.html",
        row=row,
        state=state,
        plan=plan,
        steps=rollout_lines.steps(plan, row.state, row.step, happened),
        starts=LocalTime(row.starts_at, row.zone) if row.starts_at and row.zone else None,
        opens=opens(plan.hours, clock.now()),
        now=clock.now(),
        share_bp=rollout_lines.share_now_bp(row.state, plan.steps[row.step].share_bp),
        told=told,
        guardrails=list(rollout_lines.guardrails(plan, row.judgement)) if told else [],
        happened=happened,
        judged_at=datetime.fromisoformat(row.judgement["at"]) if row.judgement else None,
        new=sorted(carried - kept),
        gone=sorted(kept - carried),
        acts=[act for act in BY_PERSONS if (State(row.state), act) in TRANSITIONS],
    )


def _told(session: Session, row: RolloutRow) -> bool:
    """Whether all that a rollout says concerns the visitor; raises UnknownRollout where nothing does."""
    asked = select(seen_rollouts(), told_rollouts()).select_from(_ROLLOUT).where(_ROLLOUT.c.number == row.number)
    found, told = session.connection().execute(asked).one()
    if not found:
        raise UnknownRollout(f"there is no rollout {row.number}", field="rollout")
    return bool(told)


def _own(session: Session, numbers: set[int]) -> set[int]:
    """Those of these revisions that the visitor sees."""
    if reader().apps is None:
        return numbers
    query = select(_REVISION.c.number).where(_REVISION.c.number.in_(numbers), seen(_REVISION.c.app))
    return set(session.connection().execute(query).scalars())
