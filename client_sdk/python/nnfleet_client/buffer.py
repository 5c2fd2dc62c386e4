"""Observations waiting to be sent: bounded in count and bytes, so that an outage never eats the phone."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from nnfleet_client.observations import ATTEMPT, Record
from nnfleet_client.spool import Spool

# Rewriting the spool at every drop would write megabytes a record; at twice the bytes needed it is cheap.
SPOOL_SLACK_BYTES: Final = 64 * 1024


@dataclass(slots=True)
class Waiting:
    """A record in the bytes it will be sent in. A held one (the mark of a start still going on) is not sent."""

    record_id: str
    kind: str
    line: bytes
    held: bool = False


class Buffer:
    """First in, first out. When full, the oldest windows go first and are counted; marks of starts go last.

    Records read back from the spool are all free to be sent: the process that held them is gone. A mark whose
    window is there too is not taken up again.
    """

    def __init__(self, spool: Spool, most_records: int, most_bytes: int) -> None:
        self._spool = spool
        self._most_records = most_records
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._waiting: dict[str, Waiting] = {}
        self._size_bytes = 0
        self.dropped: Counter[str] = Counter()
        for waiting in _read_back(spool):
            self._put(waiting)

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def size_bytes(self) -> int:
        """Bytes of all waiting lines."""
        return self._size_bytes

    def add(self, record: Record, held: bool = False) -> None:
        """Put a record at the end, dropping what no longer fits. A mark is on disk when this returns."""
        line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()
        waiting = Waiting(record["record_id"], record["kind"], line, held)
        with self._lock:
            self._spool.append(line, durable=waiting.kind == ATTEMPT)
            self._put(waiting)
            if self._spool.size_bytes > 2 * self._size_bytes + SPOOL_SLACK_BYTES:
                self._rewrite()

    def release(self, record_id: str) -> None:
        """Let a held mark go: its process did not live to write the window."""
        with self._lock:
            if record_id in self._waiting:
                self._waiting[record_id].held = False

    def settle(self, record_id: str) -> None:
        """Forget a held mark that its window has followed. One line on disk follows the other, so nothing is rewritten."""
        with self._lock:
            self._take(record_id)

    def next_batch(self, most_records: int, most_bytes: int) -> list[Waiting]:
        """The oldest records that are free to go, at least one if there is any, within both limits."""
        batch: list[Waiting] = []
        size_bytes = 0
        with self._lock:
            for waiting in self._waiting.values():
                if waiting.held:
                    continue
                size_bytes += len(waiting.line) + 1
                if batch and (len(batch) >= most_records or size_bytes > most_bytes):
                    break
                batch.append(waiting)
        return batch

    def remove(self, record_ids: Collection[str]) -> None:
        """Forget records that need not be sent again."""
        with self._lock:
            for record_id in record_ids:
                self._take(record_id)
            self._rewrite()

    def drop(self, record_id: str, why: str) -> None:
        """Give a record up, and count it under `why`."""
        self.remove([record_id])
        self.dropped[why] += 1

    def _put(self, waiting: Waiting) -> None:
        self._waiting[waiting.record_id] = waiting
        self._size_bytes += len(waiting.line)
        while len(self._waiting) > self._most_records or self._size_bytes > self._most_bytes:
            oldest = self._oldest_to_drop()
            self._take(oldest.record_id)
            self.dropped[oldest.kind] += 1

    def _oldest_to_drop(self) -> Waiting:
        windows = (waiting for waiting in self._waiting.values() if waiting.kind != ATTEMPT)
        return next(windows, None) or next(iter(self._waiting.values()))

    def _take(self, record_id: str) -> None:
        waiting = self._waiting.pop(record_id, None)
        if waiting is not None:
            self._size_bytes -= len(waiting.line)

    def _rewrite(self) -> None:
        self._spool.rewrite(waiting.line for waiting in self._waiting.values())


def _read_back(spool: Spool) -> Iterator[Waiting]:
    records = [(record, line) for line in spool.read() if (record := _record(line)) is not None]
    followed = {record.get("attempt_id") for record, _ in records}
    for record, line in records:
        if record["record_id"] not in followed:
            yield Waiting(record["record_id"], record["kind"], line)


def _record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None  # torn by a crash, or not ours
    if not isinstance(record, dict) or not {"record_id", "kind"} <= record.keys():
        return None
    return record
