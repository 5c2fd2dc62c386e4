"""People who sign in at an OpenID provider: who they are here, and what its claims let them do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Self, TypeVar

from sqlmodel import Session

from policies.errors import InvalidField, NotAllowed
from service.identity import people
from service.identity.actor import Role
from service.identity.people import NewPerson
from service.settings import Settings
from service.store.people import by_subject
from service.store.tables import PersonRow

_Given = TypeVar("_Given")
EVERY: Final = "*"
"""What stands for all apps in the settings."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How claims are read. `name_claim`, `role_claim`, `app_claim`: paths with dots. `roles`: what the provider says → role here.

    `otherwise`: the role of whoever has none of these; None lets them not in. `apps`: what the provider says → app here, or
    `*` for all; empty where apps are set here.
    """

    issuer: str
    name_claim: str
    role_claim: str
    roles: Mapping[str, Role]
    otherwise: Role | None
    app_claim: str = ""
    apps: Mapping[str, str] = field(default_factory=dict)

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
            settings.oidc_app_claim or settings.oidc_role_claim,
            _pairs(settings.oidc_apps or ""),
        )

    def role(self, claims: Mapping[str, Any]) -> Role | None:
        """The highest role that the claims give."""
        return max(_given(claims, self.role_claim, self.roles), default=self.otherwise)

    def apps_of(self, claims: Mapping[str, Any]) -> frozenset[str] | None:
        """The apps that the claims give, None for all. Raises NotAllowed where they give none: nobody has all by default."""
        given = frozenset(_given(claims, self.app_claim, self.apps))
        if not given:
            raise NotAllowed(f"the claim {self.app_claim!r} gives no app here")
        return None if EVERY in given else given


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
    apps = terms.apps_of(claims) if terms.apps else None
    if row is None:
        return _new(session, terms, claims, (role, apps), now)
    if row.disabled_at is not None:
        raise NotAllowed("this account is shut")
    if row.role != role.name.lower():
        people.set_role(session, row.name, role, row.name, now)
    if terms.apps and row.apps != (None if apps is None else sorted(apps)):
        people.set_apps(session, row.name, apps, row.name, now)
    return row


def _new(
    session: Session,
    terms: Terms,
    claims: Mapping[str, Any],
    given: tuple[Role, frozenset[str] | None],
    now: datetime,
) -> PersonRow:
    role, apps = given
    name = _at(claims, terms.name_claim)
    if not isinstance(name, str):
        raise NotAllowed(f"the provider tells no {terms.name_claim!r} to call you by")
    new = NewPerson(name.lower(), role, issuer=terms.issuer, subject=str(claims["sub"]), apps=apps)
    try:
        return people.create(session, new, new.name, now)
    except InvalidField as error:
        raise NotAllowed(f"the provider's {terms.name_claim!r} cannot be your name here: {error.detail}") from error


def _at(claims: Mapping[str, Any], path: str) -> Any:
    found: Any = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _given(claims: Mapping[str, Any], path: str, known: Mapping[str, _Given]) -> list[_Given]:
    """What the claim at the path, a text or a list, stands for here."""
    stated = _at(claims, path)
    named = stated if isinstance(stated, list) else [stated]
    return [known[name] for name in named if isinstance(name, str) and name in known]


def _mapping(text: str) -> dict[str, Role]:
    """`fleet-admins=admin,fleet=viewer` → roles by what the provider says."""
    return {said: _role(role) for said, role in _pairs(text).items()}


def _pairs(text: str) -> dict[str, str]:
    parts = [part.strip().rpartition("=") for part in text.split(",") if part.strip()]
    return {said: name for said, _, name in parts}


def _role(name: str) -> Role:
    known = {role.name.lower(): role for role in Role}
    if name not in known:
        raise ValueError(f"{name!r} is no role: {', '.join(known)}")
    return known[name]
