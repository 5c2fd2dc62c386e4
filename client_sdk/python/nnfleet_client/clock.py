"""Time, passed in: a client never reads a clock of its own."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What a client needs to know about time.

    The wall clock dates documents and observations; the monotonic one measures waits, because a phone's wall
    clock jumps.
    """

    def now_s(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        ...

    def monotonic_s(self) -> float:
        """Seconds since any fixed moment; never goes back."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now_s(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        return time.time()

    def monotonic_s(self) -> float:
        """Seconds since the process started counting; never goes back."""
        return time.monotonic()
