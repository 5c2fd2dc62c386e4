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
"""Waits are spread over so many seconds, so that phones which were refused together do not come back together."""
MOST_KEYS: Final = 100_000


class TryLater(NnfleetError):
    """Nothing is wrong with the batch; it has to come again after `retry_after_s` whole seconds."""

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
    """More records of one report than it may send."""

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
            raise Overloaded(
                f"{self._most} batches are being stored", 1 + secrets.randbelow(SPREAD_S), limit=self._most
            )
        try:
            yield
        finally:
            self._free.release()


class Quota:
    """Records a minute for each report, as a bucket that fills evenly. A burst may use up a minute at once.

    A report is a kind of phone and no phone, so this bounds the harm that made-up phones of one kind can do and is far
    above what honest ones send. 0 records a minute stand for no quota.
    """

    def __init__(self, records_a_minute: int, timer_s: Callable[[], float] = time.monotonic) -> None:
        self._burst = float(records_a_minute)
        self._a_second = records_a_minute / 60
        self._timer_s = timer_s
        self._left: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def charge(self, records: Mapping[str, int]) -> None:
        """Take records by report from the buckets; raises QuotaExceeded, and takes none, where one is empty.

        A batch may overdraw: whoever comes next waits until the debt is paid.
        """
        if not self._burst:
            return
        now_s = self._timer_s()
        with self._lock:
            left = {report_id: self._now(report_id, now_s) for report_id in records}
            if (least := min(left.values(), default=1.0)) < 1:
                wait_s = int((1 - least) / self._a_second) + 1
                raise QuotaExceeded("too many records of one report", wait_s, limit=int(self._burst))
            if len(self._left) > MOST_KEYS:
                self._left.clear()
            self._left |= {report_id: (left[report_id] - number, now_s) for report_id, number in records.items()}

    def _now(self, report_id: str, now_s: float) -> float:
        left, at_s = self._left.get(report_id, (self._burst, now_s))
        return min(self._burst, left + (now_s - at_s) * self._a_second)
