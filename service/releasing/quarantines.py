"""Quarantines: denies that do not wait for the next release. Once approved they go out at once, into a rollout too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Engine
from sqlmodel import Session

from policies.arm import arm_ids
from policies.errors import InvalidField, UnknownApp, UnknownModel, UnknownRevision
from policies.nearest import did_you_mean, nearest
from policies.quarantine import Quarantine, parse_quarantine
from policies.revision import ACCEPTED, Kind, State, Step
from policies.rules.arm_globs import check_glob
from policies.rules.globs import matching
from service.identity.actor import GUARD, Actor
from service.releasing.publishing import republish
from service.releasing.revisions import Proposal, advance, propose, save
from service.store import audit, class_facts, models, releases, revisions
from service.store.tables import RevisionRow

KILLED_FOR: Final = timedelta(days=30)
"""A kill switch ends, like every quarantine: by then somebody has found out, or states it anew."""
WITHOUT_A_SECOND: Final = "a kill switch does not wait for a second person"


@dataclass(frozen=True, slots=True)
class Kill:
    """What is switched off: an arm (an id or a glob), a model or a whole app; the narrowest that is named.

    `app` None: the arm in all apps.
    """

    app: str | None
    model: str | None
    arm: str | None
    reason: str

    @property
    def name(self) -> str:
        """What the caller repeats to confirm."""
        return self.arm or self.model or self.app or ""


def put_in_force(
    engine: Engine, held: Quarantine, note: str, actor: Actor, now: datetime, base: int | None = None
) -> tuple[RevisionRow, int | None]:
    """Propose a quarantine. Where it is approved with that, it is live at once: (revision, release or None).

    Raises BaseRequired and EditConflict where one of that name stands and `base` is not its number, InvalidField where
    its last day is over, and UnknownApp or UnknownModel where nothing is there of a name.
    """
    _check_day(held, now)
    proposal = Proposal(Kind.QUARANTINE, held.deny.id, held.model_dump(mode="json"), note, base)
    with Session(engine, expire_on_commit=False) as session, session.begin():
        _check_names(session, held.app, held.deny.models, "deny.models")
        releases.begin_release(session)
        row = propose(session, proposal, actor, now)
        return row, _published(session, row, actor.name, now)


def approve(session: Session, row: RevisionRow, approver: str, now: datetime, note: str) -> RevisionRow:
    """Approve a quarantine and publish it in the same transaction.

    Raises InvalidField where its last day is over, and UnknownApp or UnknownModel where nothing is there of a name.
    """
    held = Quarantine.model_validate(row.content)
    _check_day(held, now)
    _check_names(session, held.app, held.deny.models, "deny.models")
    releases.begin_release(session)
    row = advance(session, row, Step.APPROVE, approver, now, note)
    _published(session, row, approver, now)
    return row


def kill(engine: Engine, switched: Kill, confirm: str, actor: Actor, now: datetime) -> tuple[RevisionRow, int | None]:
    """Switch something off for everybody, at once and alone.

    Raises InvalidField where the name is not repeated or no phone could run an arm of that name, and UnknownApp or
    UnknownModel where nothing of the name is there.
    """
    if not switched.name or confirm != switched.name:
        raise InvalidField(f"confirm: repeat the name of what is switched off, {switched.name!r}", field="confirm")
    held = quarantine_of(switched, actor, now)
    proposal = Proposal(Kind.QUARANTINE, held.deny.id, held.model_dump(mode="json"), f"kill switch: {switched.name}")
    with Session(engine, expire_on_commit=False) as session, session.begin():
        releases.begin_release(session)
        _check_names(session, switched.app, [switched.model] if switched.model else [], "model")
        if switched.arm is not None:
            _check_arm(session, switched, switched.arm)
        row = save(session, proposal, actor.name, now)
        for step in (Step.SUBMIT, Step.APPROVE):
            row = advance(session, row, step, actor.name, now, WITHOUT_A_SECOND, alone=True)
        return row, _published(session, row, actor.name, now)


def quarantine_of(switched: Kill, actor: Actor, now: datetime) -> Quarantine:
    """What a kill switch puts in force; raises InvalidField."""
    if switched.arm is not None:
        check_glob("arm", switched.arm)
    deny: dict[str, Any] = {
        "id": f"kill-{now:%Y%m%d-%H%M%S-%f}",
        "arms": [switched.arm or "*"],
        "models": [switched.model] if switched.model else [],
        "reason": switched.reason,
        "until": (now + KILLED_FOR).date(),
    }
    stated = {"app": switched.app, "deny": deny, "evidence": [switched.reason], "owner": actor.name}
    return parse_quarantine(stated)


def end(engine: Engine, quarantine: str, note: str, actor: Actor, now: datetime) -> int | None:
    """Lift a quarantine at once; returns the release. Raises UnknownRevision where none of that id is in force."""
    with Session(engine) as session, session.begin():
        releases.begin_release(session)
        revisions.lock(session)
        row = revisions.newest(session, Kind.QUARANTINE, quarantine, ACCEPTED)
        if row is None or row.number is None:
            raise UnknownRevision(f"no quarantine {quarantine!r} is in force", field="quarantine")
        revisions.take(session, [row.number], Step.END)
        audit.append(session, now, actor.name, "quarantine-ended", f"quarantine:{quarantine}", note=note)
        return republish(session, f"{quarantine} ends: {note}"[:500], actor.name, now, "quarantines-published")


def end_overdue(engine: Engine, now: datetime) -> int | None:
    """Publish without the quarantines whose last day is over; None where there is none. The guard's job."""
    with Session(engine) as session, session.begin():
        live = releases.newest(session)
        held = [Quarantine.model_validate(raw) for raw in live.quarantines] if live else []
        over = [q.deny.id for q in held if q.deny.until is not None and q.deny.until < now.date()]
        if not over:
            return None
        note = f"past their last day: {', '.join(over)}"
        return republish(session, note[:500], GUARD.name, now, "quarantines-published")


def _check_names(session: Session, app: str | None, named: Iterable[str], field: str) -> None:
    """A name that is misspelt would be called switched off, and everything would go on. `app` None: any."""
    known = models.names(session)
    apps = {of for of, _ in known}
    if app is not None and app not in apps:
        raise UnknownApp(f"there is no model of an app {app!r}{did_you_mean(nearest(app, apps))}", field="app")
    of_app = {name for of, name in known if app in {None, of}}
    for model in named:
        if model not in of_app:
            close = did_you_mean(nearest(model, of_app))
            raise UnknownModel(f"{app or 'no app'} has {'no' if app else 'a'} model {model!r}{close}", field=field)


def _check_arm(session: Session, switched: Kill, arm: str) -> None:
    """Who expects an arm that no phone can run yet states a quarantine: nothing of it could be switched off today."""
    concerned = [
        spec
        for spec in models.served_models(session)
        if switched.app in {None, spec.app} and switched.model in {None, spec.name}
    ]
    drivers = class_facts.accelerators(session)
    ids = {name for spec in concerned for variant in spec.variants for name in arm_ids(variant, drivers)}
    if not matching((arm,), ids):
        close = nearest(arm, sorted(ids))
        detail = f"arm: no phone that has reported could run {arm!r} of these models{did_you_mean(close)}"
        raise InvalidField(detail, field="arm", nearest=close)


def _check_day(held: Quarantine, now: datetime) -> None:
    if held.deny.until is not None and held.deny.until < now.date():
        raise InvalidField(
            f"deny.until: {held.deny.until} is over, so that this would hold for nobody", field="deny.until"
        )


def _published(session: Session, row: RevisionRow, author: str, now: datetime) -> int | None:
    if row.state != State.APPROVED:
        return None
    return republish(session, f"quarantine {row.subject}: {row.note}"[:500], author, now, "quarantines-published")
