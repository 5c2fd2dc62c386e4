"""The life of a revision: saved on the newest one, reviewed by somebody else, noted in the audit log at every step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlmodel import Session

from policies.difference import difference
from policies.errors import BaseRequired, EditConflict, WrongState
from policies.revision import ACCEPTED, Kind, State, Step, after, check_approver
from service.identity.actor import LEARNER, Actor
from service.store import audit, releases, revisions
from service.store.people import one_user
from service.store.tables import RevisionRow

ONE_USER: Final = "the installation has one user"
"""Why an author approved their own revision, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What somebody wants to change. `base`: number of the revision it edits, None where they did not say."""

    kind: Kind
    subject: str
    content: dict[str, Any]
    note: str
    base: int | None = None


def save(session: Session, proposal: Proposal, author: str, now: datetime, *, blind: bool = False) -> RevisionRow:
    """Store a draft. `blind` edits name no base and are taken as edits of what stands.

    Raises BaseRequired where something stands and no base was named, and EditConflict where another base was: what
    somebody else saved meanwhile is never overwritten.
    """
    revisions.lock(session)
    standing = revisions.newest(session, proposal.kind, proposal.subject)
    if not (blind and proposal.base is None):
        _check_base(proposal, standing)
    row = RevisionRow(
        kind=proposal.kind,
        subject=proposal.subject,
        content=proposal.content,
        base=standing.number if standing else None,
        note=proposal.note,
        author=author,
        created_at=now,
        state=State.DRAFT,
    )
    revisions.add(session, row)
    audit.append(session, now, author, "revision-saved", _name(row), revision=row.number, base=row.base, note=row.note)
    return row


def _check_base(proposal: Proposal, standing: RevisionRow | None) -> None:
    if standing is None:
        return
    if proposal.base is None:
        raise BaseRequired(f"{_name(standing)} exists: say which revision you edit", field="base")
    if proposal.base != standing.number:
        changed = [change.path for change in difference(standing.content, proposal.content)]
        raise EditConflict(
            f"{standing.author} saved revision {standing.number} at {standing.created_at:%Y-%m-%d %H:%M:%S %Z}, after "
            f"the one you edit ({proposal.base}); yours differs from it in {', '.join(changed[:8]) or 'nothing'}",
            field="base",
        )


def advance(
    session: Session,
    row: RevisionRow,
    step: Step,
    actor: str,
    now: datetime,
    note: str | None = None,
    *,
    alone: bool = False,
) -> RevisionRow:
    """Take one step and note it. Raises WrongState, and SelfApproval where an author may not approve.

    `alone`: the author may, and `note` says why.
    """
    revisions.lock(session)
    session.refresh(row)
    follows = after(State(row.state), step)
    if step is Step.APPROVE:
        _check_newest(session, row)
        row.self_approved = check_approver(row.author, actor, one_user=alone or one_user(session))
    if step in {Step.APPROVE, Step.REJECT}:
        row.reviewer, row.reviewed_at, row.review_note = actor, now, note
    row.state = follows
    session.add(row)
    session.flush()
    detail = {"note": note} if note else {}
    if row.self_approved and step is Step.APPROVE:
        detail["self_approved"] = row.review_note or ONE_USER
    if row.kind == Kind.RECOMMENDATION and step is Step.SUBMIT and actor != LEARNER:
        detail["against_the_gate"] = row.note
    audit.append(session, now, actor, f"revision-{step}", _name(row), revision=row.number, state=row.state, **detail)
    return row


def _check_newest(session: Session, row: RevisionRow) -> None:
    """An older proposal that is approved after a newer one would undo it."""
    newer = revisions.newest(session, Kind(row.kind), row.subject, ACCEPTED)
    if newer is not None and row.number is not None and newer.number is not None and newer.number > row.number:
        raise WrongState(f"revision {newer.number} of {_name(row)} was approved already, and is newer", field="step")


def propose(session: Session, proposal: Proposal, actor: Actor, now: datetime) -> RevisionRow:
    """Save and submit in one; the only user there is also approves, which the revision says."""
    alone = one_user(session)
    row = save(session, proposal, actor.name, now, blind=alone)
    row = advance(session, row, Step.SUBMIT, actor.name, now)
    return advance(session, row, Step.APPROVE, actor.name, now) if alone else row


def recommend(
    session: Session, rankings: bytes, figures: dict[str, Any], now: datetime, refused: Sequence[str] = ()
) -> int:
    """Store a learning run and put it up for review, in place of the one that waits there; returns its id.

    `refused` says why its gate is closed. Then it stays a draft, which no release carries, and the one that waits goes on
    waiting; a person may submit the draft with a note that says why.
    """
    number = releases.add_recommendation(session, rankings, figures, now)
    passed_over = [State.DRAFT] if refused else [State.DRAFT, State.IN_REVIEW]
    for waiting in (row for state in passed_over for row in revisions.in_state(session, Kind.RECOMMENDATION, state)):
        advance(session, waiting, Step.WITHDRAW, LEARNER, now, "a newer learning run")
    content = {"recommendation": number}
    note = f"refused by its gate: {'; '.join(refused)}" if refused else "a learning run"
    row = save(session, Proposal(Kind.RECOMMENDATION, "rankings", content, note), LEARNER, now, blind=True)
    if not refused:
        advance(session, row, Step.SUBMIT, LEARNER, now)
    return number


def go_live(session: Session, carried: Iterable[RevisionRow]) -> None:
    """What a release carries is live; what stood under the same subjects before is replaced."""
    numbers = [row.number for row in carried if row.number is not None]
    revisions.take(session, revisions.overtaken(session, numbers), Step.REPLACE)
    revisions.take(session, numbers, Step.PUBLISH)


def return_to(session: Session, current: Iterable[int], wanted: Iterable[int]) -> None:
    """Revisions of the release that is left are rolled back, those of the one that returns are live again."""
    left, back = set(current), set(wanted)
    revisions.take(session, sorted(left - back), Step.ROLL_BACK)
    revisions.take(session, sorted(back), Step.RESTORE)


def _name(row: RevisionRow) -> str:
    return f"{row.kind}:{row.subject}"
