"""Quarantines: denies that do not wait for the next release. Once approved they go out at once, into a rollout too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Engine
from sqlmodel import Session

from policies.errors import InvalidField, UnknownApp, UnknownModel, UnknownRevision
from policies.nearest import did_you_mean, nearest
from policies.quarantine import Quarantine, parse_quarantine
from policies.revision import ACCEPTED, Kind, State, Step
from service.identity.actor import GUARD, Actor
from service.releasing.publishing import republish
from service.releasing.revisions import Proposal, advance, propose, save
from service.store import audit, models, releases, revisions
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

    Raises BaseRequired and EditConflict where one of that name stands and `base` is not its number, and InvalidField where
    its last day is over.
    """
    _check_day(held, now)
    proposal = Proposal(Kind.QUARANTINE, held.deny.id, held.model_dump(mode="json"), note, base)
    with Session(engine, expire_on_commit=False) as session, session.begin():
        releases.begin_release(session)
        row = propose(session, proposal, actor, now)
        return row, _published(session, row, actor.name, now)


def approve(session: Session, row: RevisionRow, approver: str, now: datetime, note: str) -> RevisionRow:
    """Approve a quarantine and publish it in the same transaction; raises InvalidField where its last day is over."""
    _check_day(Quarantine.model_validate(row.content), now)
    releases.begin_release(session)
    row = advance(session, row, Step.APPROVE, approver, now, note)
    _published(session, row, approver, now)
    return row


def kill(engine: Engine, switched: Kill, confirm: str, actor: Actor, now: datetime) -> tuple[RevisionRow, int | None]:
    """Switch something off for everybody, at once and alone.

    Raises InvalidField where the name is not repeated, and UnknownApp or UnknownModel where nothing of the name is there.
    """
    if not switched.name or confirm != switched.name:
        raise InvalidField(f"confirm: repeat the name of what is switched off, {switched.name!r}", field="confirm")
    held = quarantine_of(switched, actor, now)
    proposal = Proposal(Kind.QUARANTINE, held.deny.id, held.model_dump(mode="json"), f"kill switch: {switched.name}")
    with Session(engine, expire_on_commit=False) as session, session.begin():
        releases.begin_release(session)
        _check_known(session, switched)
        row = save(session, proposal, actor.name, now)
        for step in (Step.SUBMIT, Step.APPROVE):
            row = advance(session, row, step, actor.name, now, WITHOUT_A_SECOND, alone=True)
        return row, _published(session, row, actor.name, now)


def quarantine_of(switched: Kill, actor: Actor, now: datetime) -> Quarantine:
    """What a kill switch puts in force; raises InvalidField."""
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


def _check_known(session: Session, switched: Kill) -> None:
    """A name that is misspelt and repeated as it is would be called switched off, and everything would go on."""
    known = models.names(session)
    apps = {app for app, _ in known}
    if switched.app is not None and switched.app not in apps:
        close = did_you_mean(nearest(switched.app, apps))
        raise UnknownApp(f"there is no model of an app {switched.app!r}{close}", field="app")
    of_app = {name for app, name in known if app == switched.app}
    if switched.model is not None and switched.model not in of_app:
        close = did_you_mean(nearest(switched.model, of_app))
        raise UnknownModel(f"{switched.app} has no model {switched.model!r}{close}", field="model")


def _check_day(held: Quarantine, now: datetime) -> None:
    if held.deny.until is not None and held.deny.until < now.date():
        raise InvalidField(
            f"deny.until: {held.deny.until} is over, so that this would hold for nobody", field="deny.until"
        )


def _published(session: Session, row: RevisionRow, author: str, now: datetime) -> int | None:
    if row.state != State.APPROVED:
        return None
    return republish(session, f"quarantine {row.subject}: {row.note}"[:500], author, now, "quarantines-published")
