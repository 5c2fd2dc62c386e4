"""Sessions of people: a random id in a cookie, known here by its digest, over after a while or at once."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self

from sqlalchemy import Engine
from sqlmodel import Session

from service.identity.actor import Actor, Role
from service.identity.passwords import matches
from service.settings import Settings
from service.store import audit, people
from service.store.tables import PersonRow, PersonSessionRow

SEEN_EVERY: Final = timedelta(minutes=1)
"""How closely the last use is noted: a page would else cost a write."""
MOST_AGENT_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Who is signed in, and the digest of their session's id."""

    actor: Actor
    id_sha256: str


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of an installation. They end `idle` after their last use, and `most` after their start."""

    engine: Engine
    idle: timedelta
    most: timedelta

    @classmethod
    def of(cls, engine: Engine, settings: Settings) -> Self:
        """Sessions that end as the settings say."""
        return cls(engine, timedelta(seconds=settings.session_idle_s), timedelta(seconds=settings.session_most_s))

    def find(self, secret: str, now: datetime, *, used: bool = True) -> SignedIn | None:
        """Whose session this is, if it goes on. `used`: by a person, who thereby prolongs it."""
        digest = digest_of(secret)
        with Session(self.engine) as session, session.begin():
            found = people.signed_in(session, digest, now - self.idle, now - self.most)
            if found is None:
                return None
            person, row = found
            if used and now - row.seen_at >= SEEN_EVERY:
                people.seen(session, digest, now)
            return SignedIn(actor_of(person), digest)

    def password_matches(self, name: str, password: str) -> bool:
        """Whether somebody with this name and password may sign in. No connection is held while argon2 works."""
        with Session(self.engine) as session:
            row = people.by_name(session, name)
            known = row.password_hash if row and row.disabled_at is None else None
        return matches(known, password)

    def start(self, name: str, agent: str, now: datetime, *, instead_of: str | None = None) -> str:
        """Sign a person in; returns the session's new id. The one that the browser had, `instead_of`, ends."""
        secret = secrets.token_urlsafe(32)
        row = PersonSessionRow(
            id_sha256=digest_of(secret),
            person=name,
            agent=agent.replace("\0", "")[:MOST_AGENT_CHARACTERS],
            started_at=now,
            seen_at=now,
        )
        with Session(self.engine) as session, session.begin():
            people.drop_old_sessions(session, now - self.idle, now - self.most)
            if instead_of:
                people.end_session(session, digest_of(instead_of))
            session.add(row)
            audit.append(session, now, name, "signed-in", f"person:{name}")
        return secret

    def end(self, who: SignedIn, now: datetime) -> None:
        """Sign out."""
        with Session(self.engine) as session, session.begin():
            people.end_session(session, who.id_sha256)
            audit.append(session, now, who.actor.name, "signed-out", f"person:{who.actor.name}")


def actor_of(person: PersonRow) -> Actor:
    """What a person may do."""
    return Actor(person.name, Role[person.role.upper()], None if person.apps is None else frozenset(person.apps))


def digest_of(secret: str) -> str:
    """What is stored of a session's id."""
    return hashlib.sha256(secret.encode()).hexdigest()
