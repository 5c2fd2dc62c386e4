"""How often a password may be tried. Two bounds, for two dangers.

Passwords are guarded by a count of each name in the database, which all workers and hosts share: after FREE attempts that
failed, one in a while. Names that do not exist count the same, so that no answer tells them apart. The right password waits,
too, or the wait would tell which one it is.

The processor is guarded by a count of each address in the worker's memory: an attempt costs argon2's 50 ms or so. Workers
count apart, so the bound is theirs, times their number; behind a proxy everybody has its address, so the bound is wide.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from sqlalchemy import Engine
from sqlmodel import Session

from service.identity.names import might_be_a_name
from service.store import people

FREE: Final = 10
WAIT: Final = timedelta(minutes=1)
FORGOTTEN_AFTER: Final = timedelta(hours=1)
_AN_ADDRESS: Final = parse("30 per minute")


class Attempts:
    """Counts attempts. The engine of Flask-Limiter without its hooks, which cost every request of the API 80 µs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._addresses = FixedWindowRateLimiter(MemoryStorage())

    def wait_s(self, name: str, address: str, now: datetime) -> int:
        """Count an attempt that is about to be made; 0 lets it, else the seconds to wait."""
        if not self._addresses.hit(_AN_ADDRESS, address):
            return int(WAIT.total_seconds())
        if not might_be_a_name(name):
            return 0
        with Session(self._engine) as session, session.begin():
            counted = people.count_attempt(session, name, now, FREE, now - WAIT, now - FORGOTTEN_AFTER)
        return 0 if counted else int(WAIT.total_seconds())

    def succeeded(self, name: str) -> None:
        """Forget what was counted of a name."""
        with Session(self._engine) as session, session.begin():
            people.forget_attempts(session, name)
