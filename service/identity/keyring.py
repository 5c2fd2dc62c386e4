"""API keys: made once, shown once, kept as a digest, found again by it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Engine
from sqlmodel import Session

from policies.errors import InvalidField
from service.identity.access import Scope
from service.identity.actor import MANAGE_TOKEN, Actor, Role
from service.identity.names import check_app, check_name
from service.store import audit, keys
from service.store.tables import ApiKeyRow

PREFIX: Final = "nnf_"
"""Before every secret, so that scanners of repositories know one when they see it."""
REMEMBERED_S: Final = 5.0
"""How long a worker may let a device's key in without looking: a revoked one is shut after this."""
MOST_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Key:
    """What a key opens, and for which app (None: all). `actor` is None where it manages nothing."""

    name: str
    scopes: frozenset[Scope]
    app: str | None
    actor: Actor | None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be made."""

    name: str
    scopes: frozenset[Scope]
    role: Role | None = None
    app: str | None = None


def create(session: Session, new: NewKey, by: str, now: datetime) -> str:
    """Make a key; returns its secret, which nobody can show again. Raises InvalidField."""
    if (Scope.MANAGE in new.scopes) != (new.role is not None):
        raise InvalidField("a key that manages has a role, and no other key has one", field="role")
    check_name(session, new.name)
    check_app(new.app)
    secret = PREFIX + secrets.token_urlsafe(32)
    row = ApiKeyRow(
        name=new.name,
        secret_sha256=_digest(secret),
        scopes=sorted(new.scopes),
        role=new.role.name.lower() if new.role else None,
        app=new.app,
        created_at=now,
    )
    keys.add(session, row)
    audit.append(session, now, by, "key-created", f"key:{new.name}", scopes=row.scopes, role=row.role, app=row.app)
    return secret


def revoke(session: Session, name: str, by: str, now: datetime) -> None:
    """Shut a key for good; raises InvalidField where there is none that is open."""
    if not keys.revoke(session, name, now):
        raise InvalidField(f"there is no open key {name!r}", field="name")
    audit.append(session, now, by, "key-revoked", f"key:{name}")


class KeyRing:
    """Finds keys by their secret. Those of devices are remembered for a moment; those of people never."""

    def __init__(self, engine: Engine, manage_token: str | None) -> None:
        self._engine = engine
        self._manage_token = manage_token
        self._remembered: dict[str, tuple[float, Key | None]] = {}

    def key(self, secret: str) -> Key | None:
        """The key with this secret, if it is open."""
        token = self._manage_token
        if token and hmac.compare_digest(secret.encode(), token.encode()):
            return Key(MANAGE_TOKEN.name, frozenset(Scope), None, MANAGE_TOKEN)
        if not secret.startswith(PREFIX):
            return None
        with Session(self._engine) as session:
            row = keys.by_secret(session, _digest(secret))
            return _key(row) if row else None

    def device_key(self, secret: str) -> Key | None:
        """The same, perhaps as it was REMEMBERED_S ago."""
        name, now = _digest(secret), time.monotonic()
        until, known = self._remembered.get(name, (0.0, None))
        if now < until:
            return known
        found = self.key(secret)
        if len(self._remembered) >= MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[name] = (now + REMEMBERED_S, found)
        return found


def _key(row: ApiKeyRow) -> Key:
    actor = Actor(row.name, Role[row.role.upper()], frozenset({row.app}) if row.app else None) if row.role else None
    return Key(row.name, frozenset(Scope(scope) for scope in row.scopes), row.app, actor)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
