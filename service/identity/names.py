"""Names of whoever acts, people and keys alike, and of the apps they are bound to."""

from __future__ import annotations

import re
from typing import Final

from sqlmodel import Session

from policies.errors import InvalidField
from service.identity.actor import RESERVED
from service.store import keys, people

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,99}")
"""Small letters of ASCII: two names that look alike would be two people who approve each other's changes."""

_APP: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
MOST_APPS: Final = 100


def check_name(session: Session, name: str) -> None:
    """Raise InvalidField where nobody new may have this name: revisions and the audit log tell who acted by it."""
    if not might_be_a_name(name):
        raise InvalidField(
            "a name has small letters, digits and . _ @ + -, starts with a letter or digit, and has 100 at most",
            field="name",
        )
    if name in RESERVED or people.by_name(session, name) or keys.by_name(session, name):
        raise InvalidField(f"somebody or something is, or was, called {name!r}: names are not used twice", field="name")


def might_be_a_name(name: str) -> bool:
    """Whether anybody could be called so."""
    return _NAME.fullmatch(name) is not None


def check_app(app: str | None) -> None:
    """Raise InvalidField where this cannot be the name of an app; None stands for all."""
    if app is not None and not _APP.fullmatch(app):
        raise InvalidField(
            "app: letters, digits and . _ -, a letter or digit first, 128 at most", field="app", limit=128
        )


def stored_apps(apps: frozenset[str] | None) -> list[str] | None:
    """Apps as they are stored; raises InvalidField where one cannot be the name of an app, or there are too many."""
    if apps is None:
        return None
    wrong = next((app for app in sorted(apps) if not _APP.fullmatch(app)), None)
    if wrong is not None or not 1 <= len(apps) <= MOST_APPS:
        raise InvalidField(
            f"apps: 1 to {MOST_APPS} names of apps" + (f", not {wrong!r}" if wrong is not None else ""),
            field="apps",
            limit=MOST_APPS,
        )
    return sorted(apps)
