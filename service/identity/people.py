"""Accounts of people: made, given a role or a password, shut out. Each act is a row of the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from policies.errors import InvalidField
from service.identity.actor import Role
from service.identity.names import check_name, stored_apps
from service.identity.passwords import hashed
from service.store import audit, people
from service.store.tables import PersonRow


@dataclass(frozen=True, slots=True)
class NewPerson:
    """An account to be made, with all apps where it names none.

    `issuer` and `subject`: who this is at a provider, for one without a password.
    """

    name: str
    role: Role
    password: str | None = None
    issuer: str | None = None
    subject: str | None = None
    apps: frozenset[str] | None = None


def create(session: Session, new: NewPerson, by: str, now: datetime) -> PersonRow:
    """Make an account; raises InvalidField."""
    check_name(session, new.name)
    row = PersonRow(
        name=new.name,
        role=new.role.name.lower(),
        apps=stored_apps(new.apps),
        password_hash=None if new.password is None else hashed(new.password),
        issuer=new.issuer,
        subject=new.subject,
        created_at=now,
    )
    session.add(row)
    session.flush()
    audit.append(session, now, by, "person-created", f"person:{new.name}", role=row.role, apps=row.apps)
    return row


def set_password(session: Session, name: str, password: str, by: str, now: datetime) -> None:
    """Give a person another password, and end their sessions. Raises InvalidField."""
    row = _known(session, name)
    if row.issuer is not None:
        raise InvalidField(f"{name} signs in at {row.issuer} and has no password here", field="password")
    row.password_hash = hashed(password)
    session.add(row)
    ended = people.end_sessions(session, name)
    audit.append(session, now, by, "password-set", f"person:{name}", sessions_ended=ended)


def set_role(session: Session, name: str, role: Role, by: str, now: datetime) -> None:
    """Give a person another role; it holds from their next request on. Raises InvalidField."""
    row = _known(session, name)
    before, row.role = row.role, role.name.lower()
    session.add(row)
    session.flush()
    audit.append(session, now, by, "role-set", f"person:{name}", before=before, role=row.role)


def set_apps(session: Session, name: str, apps: frozenset[str] | None, by: str, now: datetime) -> None:
    """Bind a person to apps, or to none (None: all); it holds from their next request on. Raises InvalidField."""
    row = _known(session, name)
    before, row.apps = row.apps, stored_apps(apps)
    session.add(row)
    session.flush()
    audit.append(session, now, by, "apps-set", f"person:{name}", before=before, apps=row.apps)


def disable(session: Session, name: str, by: str, now: datetime) -> None:
    """Shut a person out at once. Raises InvalidField."""
    row = _known(session, name)
    row.disabled_at = now
    session.add(row)
    ended = people.end_sessions(session, name)
    audit.append(session, now, by, "person-disabled", f"person:{name}", sessions_ended=ended)


def enable(session: Session, name: str, by: str, now: datetime) -> None:
    """Let a person in again. Raises InvalidField."""
    row = session.get(PersonRow, name)
    if row is None or row.disabled_at is None:
        raise InvalidField(f"nobody called {name!r} is shut out", field="name")
    row.disabled_at = None
    session.add(row)
    audit.append(session, now, by, "person-enabled", f"person:{name}", role=row.role)


def end_sessions(session: Session, name: str, by: str, now: datetime) -> int:
    """Sign a person out everywhere; returns of how many sessions."""
    ended = people.end_sessions(session, name)
    audit.append(session, now, by, "sessions-ended", f"person:{name}", sessions_ended=ended)
    return ended


def _known(session: Session, name: str) -> PersonRow:
    row = session.get(PersonRow, name)
    if row is None or row.disabled_at is not None:
        raise InvalidField(f"there is nobody called {name!r}", field="name")
    return row
