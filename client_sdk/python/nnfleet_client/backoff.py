"""When to ask again: last attempt and last success are kept apart, so that an outage is never hammered."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Final

COOLDOWN_S: Final = 30.0
MOST_WAIT_S: Final = 3_600.0
JITTER: Final = 0.5


@dataclass(slots=True)
class Backoff:
    """The pause after failures, on a monotonic clock.

    After the n-th failure in a row the pause is 30 s × 2^(n−1), at most an hour, stretched by up to half at random
    so that phones which failed together do not return together. A `Retry-After` is a floor, stretched likewise.
    """

    rng: random.Random
    failures: int = 0
    last_attempt_s: float | None = None
    last_success_s: float | None = None
    _not_before_s: float = field(default=0.0)

    def attempt(self, now_s: float) -> None:
        """Note that a call is about to be made."""
        self.last_attempt_s = now_s

    def success(self, now_s: float) -> None:
        """A call worked (a 304 too): the pause is over."""
        self.failures = 0
        self.last_success_s = now_s
        self._not_before_s = now_s

    def failure(self, now_s: float, retry_after_s: float | None = None) -> None:
        """A call failed: pause, from now."""
        self.failures += 1
        pause_s = min(MOST_WAIT_S, COOLDOWN_S * 2.0 ** min(self.failures - 1, 16))
        pause_s = max(pause_s, retry_after_s or 0.0)
        self._not_before_s = now_s + pause_s * (1 + JITTER * self.rng.random())

    def wait_s(self, now_s: float) -> float:
        """Seconds still to wait before the next call may be made; 0 when it may be made now."""
        return max(0.0, self._not_before_s - now_s) if self.failures else 0.0
