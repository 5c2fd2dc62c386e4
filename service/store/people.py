"""People and their sessions as rows."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, update
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, func, select

from service.store import keys
from service.store.tables import PersonRow, PersonSessionRow, SignInAttemptRow


def by_name(session: Session, name: str) -> PersonRow | None:
    """Whoever has this name."""
    return session.get(PersonRow, name)


def by_subject(session: Session, issuer: str, subject: str) -> PersonRow | None:
    """Whoever this is at a provider."""
    return session.exec(select(PersonRow).where(PersonRow.issuer == issuer, PersonRow.subject == subject)).first()


def all_people(session: Session) -> list[PersonRow]:
    """Everybody, who is shut out too, by name."""
    return list(session.exec(select(PersonRow).order_by(col(PersonRow.name))))


def anybody(session: Session) -> bool:
    """Whether anybody could sign in."""
    return session.exec(select(PersonRow.name).where(col(PersonRow.disabled_at).is_(None)).limit(1)).first() is not None


def signed_in(
    session: Session, id_sha256: str, seen_after: datetime, started_after: datetime
) -> tuple[PersonRow, PersonSessionRow] | None:
    """Whose session this is, if it goes on: seen and started after these times, and its person not shut out."""
    found = select(PersonRow, PersonSessionRow).join(PersonSessionRow, col(PersonSessionRow.person) == PersonRow.name)
    found = found.where(
        PersonSessionRow.id_sha256 == id_sha256,
        PersonSessionRow.seen_at > seen_after,
        PersonSessionRow.started_at > started_after,
        col(PersonRow.disabled_at).is_(None),
    )
    return session.exec(found).first()


def seen(session: Session, id_sha256: str, now: datetime) -> None:
    """Note that a session was used. One that was ended meanwhile stays ended."""
    session.execute(update(PersonSessionRow).where(col(PersonSessionRow.id_sha256) == id_sha256).values(seen_at=now))


def sessions_of(session: Session, name: str) -> list[PersonSessionRow]:
    """The sessions of a person, the last used first."""
    found = select(PersonSessionRow).where(PersonSessionRow.person == name)
    return list(session.exec(found.order_by(col(PersonSessionRow.seen_at).desc())))


def end_session(session: Session, id_sha256: str) -> None:
    """End one session, if it is there."""
    session.execute(delete(PersonSessionRow).where(col(PersonSessionRow.id_sha256) == id_sha256))


def end_sessions(session: Session, name: str) -> int:
    """End all sessions of a person; returns how many there were."""
    ended = delete(PersonSessionRow).where(col(PersonSessionRow.person) == name)
    return len(session.execute(ended.returning(col(PersonSessionRow.id_sha256))).all())


def drop_old_sessions(session: Session, seen_before: datetime, started_before: datetime) -> None:
    """Drop what is over anyway."""
    old = (col(PersonSessionRow.seen_at) <= seen_before) | (col(PersonSessionRow.started_at) <= started_before)
    session.execute(delete(PersonSessionRow).where(old))


def count_attempt(
    session: Session, name: str, now: datetime, free: int, waited_since: datetime, forgotten_since: datetime
) -> bool:
    """Count an attempt to sign in; False, and nothing counted, where it has to wait.

    In one statement: of many at once, no more get through than there are free.
    """
    table = SignInAttemptRow
    session.execute(delete(table).where(col(table.last_at) < forgotten_since))
    counted = insert(table).values(name=name, attempts=1, last_at=now)
    counted = counted.on_conflict_do_update(
        index_elements=[col(table.name)],
        set_={"attempts": col(table.attempts) + 1, "last_at": now},
        where=(col(table.attempts) < free) | (col(table.last_at) <= waited_since),
    )
    return session.execute(counted.returning(col(table.attempts))).first() is not None


def forget_attempts(session: Session, name: str) -> None:
    """Begin the count of a name anew."""
    session.execute(delete(SignInAttemptRow).where(col(SignInAttemptRow.name) == name))


def one_user(session: Session) -> bool:
    """Whether at most one person may change anything, and nobody has a key to manage with."""
    hands = select(func.count()).where(col(PersonRow.disabled_at).is_(None), PersonRow.role != "viewer")
    return not keys.managing(session) and session.exec(hands).one() <= 1
