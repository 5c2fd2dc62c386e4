"""Back-pressure: a batch that there is no room for is told when to come again, before anything of it is read or stored."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar, Final

from policies.errors import NnfleetError

SPREAD_S: Final = 10
"""Waits are spread over so many seconds on their way out: phones that were refused together do not come back together."""
MOST_KEYS: Final = 100_000


class TryLater(NnfleetError):
    """Nothing is wrong with the batch; it has to come again, not before `retry_after_s` whole seconds are over."""

    code: ClassVar[str] = "try-later"

    def __init__(self, detail: str, retry_after_s: int, *, limit: int | None = None) -> None:
        super().__init__(detail, limit=limit)
        self.retry_after_s = retry_after_s


class Overloaded(TryLater):
    """As many batches as may be are being stored by this worker."""

    code: ClassVar[str] = "overloaded"


class StorageFull(TryLater):
    """The database is as large as it may become, or its disk nearly full."""

    code: ClassVar[str] = "storage-full"


class QuotaExceeded(TryLater):
    """More records of one report, or with one key, than there may be."""

    code: ClassVar[str] = "quota-exceeded"


class Slots:
    """How many batches a worker stores at once: fewer than it has database connections, as lookups need some too."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._free = threading.BoundedSemaphore(most)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Hold a slot while the block runs; raises Overloaded instead of waiting for one."""
        if not self._free.acquire(blocking=False):
            raise Overloaded(f"{self._most} batches are being stored", 1, limit=self._most)
        try:
            yield
        finally:
            self._free.release()


class Quota:
    """Records a minute for each report or key, as buckets that fill evenly. A burst may use up a minute at once.

    A report is a kind of phone and no phone, and a key an app's, so this bounds the harm that made-up phones can do and is
    far above what honest ones send. `what` the buckets are for is said to who is refused. 0 records a minute stand for no
    quota.
    """

    def __init__(self, what: str, records_a_minute: int, timer_s: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._burst = float(records_a_minute)
        self._a_second = records_a_minute / 60
        self._timer_s = timer_s
        self._left: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def charge(self, records: Mapping[str, int]) -> None:
        """Take records by report or key from the buckets; raises QuotaExceeded, and takes none, where one is empty.

        A batch may overdraw: whoever comes next waits until the debt is paid.
        """
        if not self._burst:
            return
        now_s = self._timer_s()
        with self._lock:
            left = {name: self._now(name, now_s) for name in records}
            if (least := min(left.values(), default=1.0)) < 1:
                wait_s = int((1 - least) / self._a_second) + 1
                raise QuotaExceeded(f"too many records of one {self._what}", wait_s, limit=int(self._burst))
            if len(self._left) > MOST_KEYS:
                self._left.clear()
            self._left |= {name: (left[name] - number, now_s) for name, number in records.items()}

    def _now(self, name: str, now_s: float) -> float:
        left, at_s = self._left.get(name, (self._burst, now_s))
        return min(self._burst, left + (now_s - at_s) * self._a_second)


def spread_s(wait_s: int) -> int:
    """The wait that one client is told, `wait_s` or up to `SPREAD_S` seconds more."""
    return wait_s + secrets.randbelow(SPREAD_S)
