"""Revisions as rows: what stands, what is accepted, and the documents and models that follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import ColumnElement, or_, text, true, update
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import aliased, defer
from sqlmodel import Session, col, select

from policies.errors import UnknownRevision
from policies.revision import ACCEPTED, STANDING, TRANSITIONS, Kind, State, Step
from service.store.tables import RevisionRow

_TOLD: Final = defer(RevisionRow.content)  # type: ignore[arg-type]
"""For lists: content, of which a model has megabytes, stays in the database until somebody asks for it."""
MAX_NUMBER: Final = 2**31 - 1
"""What the column holds: a larger number names nothing."""


def lock(session: Session) -> None:
    """Wait until nobody else writes revisions. After the lock of `release`, where both are taken."""
    session.execute(text("LOCK TABLE revision IN SHARE ROW EXCLUSIVE MODE"))


def revision(session: Session, number: int) -> RevisionRow:
    """One revision; raises UnknownRevision."""
    row = session.get(RevisionRow, number) if number <= MAX_NUMBER else None
    if row is None:
        raise UnknownRevision(f"there is no revision {number}", field="revision")
    return row


def apps_of(session: Session, numbers: Iterable[int]) -> set[str | None]:
    """The apps that these revisions are of; None among them where one concerns all."""
    return set(session.exec(select(RevisionRow.app).where(col(RevisionRow.number).in_(list(numbers)))))


def add(session: Session, row: RevisionRow) -> int:
    """Store a new revision; returns its number."""
    session.add(row)
    session.flush()
    if row.number is None:
        raise RuntimeError("the database gave the revision no number")
    return row.number


def newest(session: Session, kind: Kind, subject: str, states: Iterable[State] = STANDING) -> RevisionRow | None:
    """The newest revision of a subject that is in one of these states."""
    found = select(RevisionRow).where(RevisionRow.kind == kind, RevisionRow.subject == subject)
    found = found.where(col(RevisionRow.state).in_(list(states)))
    return session.exec(found.order_by(col(RevisionRow.number).desc()).limit(1)).first()


def standing(session: Session, kind: Kind) -> list[RevisionRow]:
    """The newest standing revision of every subject of a kind, by subject."""
    found = select(RevisionRow).where(RevisionRow.kind == kind, col(RevisionRow.state).in_(list(STANDING)))
    newest_of = found.ext(distinct_on(col(RevisionRow.subject))).order_by(
        RevisionRow.subject, col(RevisionRow.number).desc()
    )
    return list(session.exec(newest_of))


def accepted(session: Session) -> list[RevisionRow]:
    """What the next release is made of: the newest accepted revision of every subject, by kind and subject."""
    found = select(RevisionRow).where(col(RevisionRow.state).in_(list(ACCEPTED)))
    rows = session.exec(found.order_by(col(RevisionRow.number)))
    newest_of = {(row.kind, row.subject): row for row in rows}
    return [newest_of[key] for key in sorted(newest_of)]


def accepted_of(session: Session, kind: Kind) -> list[RevisionRow]:
    """The accepted revisions of one kind, by subject."""
    return [row for row in accepted(session) if row.kind == kind]


def in_state(session: Session, kind: Kind, state: State) -> list[RevisionRow]:
    """All revisions of a kind that are in a state, the oldest first."""
    found = select(RevisionRow).where(RevisionRow.kind == kind, RevisionRow.state == state)
    return list(session.exec(found.order_by(col(RevisionRow.number))))


def approved(session: Session) -> list[RevisionRow]:
    """What is approved and not live yet, by kind and number. Quarantines do not wait for a release."""
    found = select(RevisionRow).where(RevisionRow.state == State.APPROVED, RevisionRow.kind != Kind.QUARANTINE)
    found = found.options(_TOLD)
    return list(session.exec(found.order_by(RevisionRow.kind, col(RevisionRow.number))))


def waiting(session: Session, apps: frozenset[str] | None = None) -> list[RevisionRow]:
    """All that waits for a review, the oldest first; with `apps` what concerns them."""
    found = select(RevisionRow).where(RevisionRow.state == State.IN_REVIEW, _concerns(apps)).options(_TOLD)
    return list(session.exec(found.order_by(col(RevisionRow.number))))


def decided(session: Session, limit: int, apps: frozenset[str] | None = None) -> list[RevisionRow]:
    """What somebody approved or rejected, the newest decision first; with `apps` what concerns them."""
    found = select(RevisionRow).where(col(RevisionRow.reviewed_at).is_not(None), _concerns(apps)).options(_TOLD)
    return list(session.exec(found.order_by(col(RevisionRow.reviewed_at).desc()).limit(limit)))


def _concerns(apps: frozenset[str] | None) -> ColumnElement[bool]:
    if apps is None:
        return true()
    return or_(col(RevisionRow.app).is_(None), col(RevisionRow.app).in_(sorted(apps)))


def of_kind(session: Session, kind: Kind, numbers: Sequence[int]) -> list[RevisionRow]:
    """Those of these revisions that are of a kind."""
    found = select(RevisionRow).where(RevisionRow.kind == kind, col(RevisionRow.number).in_(numbers))
    return list(session.exec(found))


def overtaken(session: Session, numbers: Sequence[int]) -> list[int]:
    """Accepted revisions that are older than one of these on the same subject."""
    newer = aliased(RevisionRow)
    older = select(RevisionRow.number).join(
        newer, (col(newer.kind) == RevisionRow.kind) & (col(newer.subject) == RevisionRow.subject)
    )
    older = older.where(col(newer.number).in_(numbers), col(RevisionRow.number) < col(newer.number))
    found = session.exec(older.where(col(RevisionRow.state).in_(list(ACCEPTED))))
    return [number for number in found if number is not None]


def take(session: Session, numbers: Sequence[int], step: Step) -> None:
    """Let the step happen to those of these revisions that are in a state it starts from."""
    for (state, taken), follows in TRANSITIONS.items():
        if taken is step:
            moved = update(RevisionRow).where(col(RevisionRow.number).in_(numbers), col(RevisionRow.state) == state)
            session.execute(moved.values(state=follows).execution_options(synchronize_session="fetch"))


def page(
    session: Session,
    kind: str | None,
    state: str | None,
    subject: str | None,
    limit: int | None,
    apps: frozenset[str] | None = None,
) -> list[RevisionRow]:
    """The newest revisions of a kind, in a state, of a subject; None for any. With `apps` what concerns them."""
    found = select(RevisionRow).where(_concerns(apps)).options(_TOLD)
    for column, wanted in ((RevisionRow.kind, kind), (RevisionRow.state, state), (RevisionRow.subject, subject)):
        found = found if wanted is None else found.where(column == wanted)
    return list(session.exec(found.order_by(col(RevisionRow.number).desc()).limit(limit)))
