"""When to ask again after a failure.

Failures are counted here, the last success is dated in the store: a failed call never passes for a fresh answer, and
an outage is never hammered.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
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
    _not_before_s: float = 0.0

    def success(self) -> None:
        """A call worked (a 304 too): the pause is over."""
        self.failures = 0

    def failure(self, now_s: float, retry_after_s: float | None = None) -> None:
        """A call failed: pause, from now."""
        self.failures += 1
        pause_s = min(MOST_WAIT_S, COOLDOWN_S * 2.0 ** min(self.failures - 1, 16))
        pause_s = max(pause_s, retry_after_s or 0.0)
        self._not_before_s = now_s + pause_s * (1 + JITTER * self.rng.random())

    def wait_s(self, now_s: float) -> float:
        """Seconds still to wait before the next call may be made; 0 when it may be made now."""
        return max(0.0, self._not_before_s - now_s) if self.failures else 0.0
