"""People who sign in at an OpenID provider: who they are here, and what its claims let them do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from sqlmodel import Session

from policies.errors import InvalidField, NotAllowed
from service.identity import people
from service.identity.actor import Role
from service.identity.people import NewPerson
from service.settings import Settings
from service.store.people import by_subject
from service.store.tables import PersonRow


@dataclass(frozen=True, slots=True)
class Terms:
    """How claims are read. `name_claim`, `role_claim`: paths with dots. `roles`: what the provider says → role here.

    `otherwise`: the role of whoever has none of these; None lets them not in.
    """

    issuer: str
    name_claim: str
    role_claim: str
    roles: Mapping[str, Role]
    otherwise: Role | None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """As the settings state them; raises ValueError where a role is none of ours."""
        otherwise = settings.oidc_other_role
        return cls(
            (settings.oidc_issuer or "").rstrip("/"),
            settings.oidc_name_claim,
            settings.oidc_role_claim,
            _mapping(settings.oidc_roles or ""),
            _role(otherwise) if otherwise else None,
        )

    def role(self, claims: Mapping[str, Any]) -> Role | None:
        """The highest role that the claims give."""
        stated = _at(claims, self.role_claim)
        named = stated if isinstance(stated, list) else [stated]
        given = [self.roles[name] for name in named if isinstance(name, str) and name in self.roles]
        return max(given, default=self.otherwise)


def admit(session: Session, terms: Terms, claims: Mapping[str, Any], now: datetime) -> PersonRow:
    """Whoever the claims are about, with the role that they give today. Raises NotAllowed with what stands in the way.

    People are known by issuer and subject. A name is taken from the claims once; one that is taken here already belongs to
    somebody else, whoever the provider says it is.
    """
    role = terms.role(claims)
    if str(claims.get("iss", "")).rstrip("/") != terms.issuer:
        raise NotAllowed("this token was issued by somebody else")
    if role is None:
        raise NotAllowed(f"the claim {terms.role_claim!r} gives no role here")
    row = by_subject(session, terms.issuer, str(claims["sub"]))
    if row is None:
        return _new(session, terms, claims, role, now)
    if row.disabled_at is not None:
        raise NotAllowed("this account is shut")
    if row.role != role.name.lower():
        people.set_role(session, row.name, role, row.name, now)
    return row


def _new(session: Session, terms: Terms, claims: Mapping[str, Any], role: Role, now: datetime) -> PersonRow:
    name = _at(claims, terms.name_claim)
    if not isinstance(name, str):
        raise NotAllowed(f"the provider tells no {terms.name_claim!r} to call you by")
    new = NewPerson(name.lower(), role, issuer=terms.issuer, subject=str(claims["sub"]))
    try:
        return people.create(session, new, new.name, now)
    except InvalidField as error:
        raise NotAllowed(f"the provider's {terms.name_claim!r} cannot be your name here: {error.detail}") from error


def _at(claims: Mapping[str, Any], path: str) -> Any:
    found: Any = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _mapping(text: str) -> dict[str, Role]:
    """`fleet-admins=admin,fleet=viewer` → roles by what the provider says."""
    pairs: Sequence[tuple[str, str, str]] = [part.strip().rpartition("=") for part in text.split(",") if part.strip()]
    return {said: _role(role) for said, _, role in pairs}


def _role(name: str) -> Role:
    known = {role.name.lower(): role for role in Role}
    if name not in known:
        raise ValueError(f"{name!r} is no role: {', '.join(known)}")
    return known[name]
