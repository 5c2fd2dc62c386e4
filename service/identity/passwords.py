"""Passwords: argon2id with the library's parameters (RFC 9106, low memory), and one cost whoever is asked for."""

from __future__ import annotations

import secrets
from functools import cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from policies.errors import InvalidField

LEAST_CHARACTERS: Final = 12
"""Length is all that is asked for: rules about signs make worse passwords (NIST SP 800-63B, 5.1.1)."""
MOST_CHARACTERS: Final = 1_000
"""What is hashed is bounded."""
_HASHER: Final = PasswordHasher()


def hashed(password: str) -> str:
    """What is stored of a password. Raises InvalidField where it is too short or too long."""
    if len(password) < LEAST_CHARACTERS:
        raise InvalidField(
            f"a password has at least {LEAST_CHARACTERS} characters", field="password", limit=LEAST_CHARACTERS
        )
    if len(password) > MOST_CHARACTERS:
        raise InvalidField(
            f"a password has at most {MOST_CHARACTERS:,} characters", field="password", limit=MOST_CHARACTERS
        )
    return _HASHER.hash(password)


def matches(password_hash: str | None, password: str) -> bool:
    """Whether the password is the one. None costs as much and never matches: time does not tell who exists."""
    try:
        _HASHER.verify(password_hash or _nobodys(), password[:MOST_CHARACTERS])
    except VerificationError:
        return False
    return password_hash is not None


@cache
def _nobodys() -> str:
    return _HASHER.hash(secrets.token_urlsafe())
