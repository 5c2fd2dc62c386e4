"""Sending observations: batches, verdicts, patience. Nothing acknowledged is sent again, nothing else is forgotten."""

from __future__ import annotations

import gzip
import json
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nnfleet_client.backoff import Backoff
from nnfleet_client.buffer import Buffer, Waiting
from nnfleet_client.clock import Clock
from nnfleet_client.decisions import UNKNOWN_REPORT
from nnfleet_client.headers import retry_after_s
from nnfleet_client.transport import Answer, NoAnswer, Transport

MOST_BATCH_RECORDS: Final = 2_000
MOST_COMPRESSED_BYTES: Final = 1024 * 1024
MOST_INFLATED_BYTES: Final = 16 * 1024 * 1024
# One flush may isolate a few records that the server cannot take, not hammer it with halves for ever.
MOST_REQUESTS: Final = 64

TOO_BIG: Final = "too_big"
REFUSED: Final = "refused"


@dataclass(slots=True)
class Flushed:
    """What one flush came to: the server's verdicts, what was given up, what waits, and when to come back.

    `wait_s` is 0 where nothing forbids another flush now; `error_code` is that of the request that ended it.
    """

    accepted: int = 0
    duplicate: int = 0
    set_aside: int = 0
    rejected: int = 0
    dropped: int = 0
    waiting: int = 0
    error_code: str | None = None
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The answer to a batch, read: two counts, and the ids of the records that are named in it.

    `unheard` are those rejected only because the server does not have their report.
    """

    accepted: int
    duplicate: int
    set_aside: frozenset[str]
    rejected: frozenset[str]
    unheard: frozenset[str]

    @property
    def total(self) -> int:
        """Records that got a verdict."""
        return self.accepted + self.duplicate + len(self.set_aside) + len(self.rejected) + len(self.unheard)


class TelemetrySender:
    """Empties a buffer towards the server, with the same record ids at every retry."""

    def __init__(
        self,
        buffer: Buffer,
        transport: Transport,
        clock: Clock,
        rng: random.Random,
        upload_report: Callable[[], bool],
    ) -> None:
        self._buffer = buffer
        self._transport = transport
        self._clock = clock
        self._upload_report = upload_report
        self._uploaded = False
        self._backoff = Backoff(rng)
        self._batch_records = MOST_BATCH_RECORDS
        self._last_error: str | None = None
        self._lock = threading.Lock()

    def flush(self) -> Flushed:
        """Send what waits, batch by batch. Does nothing while cooling down or while another thread flushes.

        200: every record with a verdict is removed — accepted, duplicate, set aside and rejected alike, save those
        rejected as `unknown-report`: for them the report is uploaded, once a flush, and they are sent again. 413, 400
        and 422 with a problem document: the batch is halved until the record at fault stands alone; that one is
        dropped and counted. Anything else (429 and 503 with their `Retry-After`, 401, 5xx, no network, an answer
        that is no verdict) keeps every record and starts the cool-down. Never raises for any answer.
        """
        flushed = Flushed(error_code=self._last_error)
        if self._wait_s() == 0 and self._lock.acquire(blocking=False):
            try:
                self._flush(flushed)
            finally:
                self._lock.release()
        flushed.waiting = len(self._buffer)
        flushed.wait_s = self._wait_s()
        return flushed

    def _flush(self, flushed: Flushed) -> None:
        flushed.error_code = None
        self._uploaded = False
        for _ in range(MOST_REQUESTS):
            batch = self._buffer.next_batch(self._batch_records, MOST_INFLATED_BYTES)
            if not batch:
                break
            flushed.error_code = self._send(batch, flushed)
            if flushed.error_code is not None:
                break
        self._last_error = flushed.error_code

    def _send(self, batch: Sequence[Waiting], flushed: Flushed) -> str | None:
        body = gzip.compress(b"".join(waiting.line + b"\n" for waiting in batch), compresslevel=6, mtime=0)
        if len(body) > MOST_COMPRESSED_BYTES:
            return self._narrow(batch, flushed, TOO_BIG, {})
        answer = self._transport.post_telemetry(body)
        if isinstance(answer, Answer):
            if answer.status in {200, 202}:
                return self._apply(answer, batch, flushed)
            if answer.status == 413:
                return self._narrow(batch, flushed, TOO_BIG, answer.problem())
            if answer.status in {400, 422} and answer.problem():
                return self._narrow(batch, flushed, REFUSED, {})
        return self._fail(answer)

    def _apply(self, answer: Answer, batch: Sequence[Waiting], flushed: Flushed) -> str | None:
        verdicts = read_verdicts(answer.body, [waiting.record_id for waiting in batch])
        if verdicts is None:
            return self._fail(NoAnswer("unreadable-verdicts"))
        flushed.accepted += verdicts.accepted
        flushed.duplicate += verdicts.duplicate
        flushed.set_aside += len(verdicts.set_aside)
        flushed.rejected += len(verdicts.rejected)
        if verdicts.total < len(batch):
            # Some records got no verdict and no name: keeping too many is safe, the server knows a duplicate.
            self._buffer.remove(verdicts.set_aside | verdicts.rejected)
            return self._fail(NoAnswer("verdicts-missing"))
        return self._settle(verdicts, {waiting.record_id for waiting in batch}, flushed)

    def _settle(self, verdicts: Verdicts, sent: set[str], flushed: Flushed) -> str | None:
        if verdicts.unheard and not self._uploaded:
            self._buffer.remove(sent - verdicts.unheard)
            self._uploaded = self._upload_report()
            return None if self._uploaded else self._fail(NoAnswer(UNKNOWN_REPORT))
        flushed.rejected += len(verdicts.unheard)
        self._buffer.remove(sent)
        self._backoff.success()
        self._batch_records = min(MOST_BATCH_RECORDS, self._batch_records * 2)
        return None

    def _narrow(self, batch: Sequence[Waiting], flushed: Flushed, why: str, problem: Mapping[str, Any]) -> str | None:
        if len(batch) == 1:
            self._buffer.drop(batch[0].record_id, why)
            flushed.dropped += 1
            self._batch_records = min(MOST_BATCH_RECORDS, self._batch_records * 2)
            return None
        limit = problem.get("limit_items")
        half = len(batch) // 2
        self._batch_records = min(half, limit) if isinstance(limit, int) and limit > 0 else half
        return None

    def _fail(self, answer: Answer | NoAnswer) -> str:
        headers = answer.headers if isinstance(answer, Answer) else {}
        self._backoff.failure(self._clock.monotonic_s(), retry_after_s(headers, self._clock.now_s()))
        return answer.failure_code() if isinstance(answer, Answer) else answer.code

    def _wait_s(self) -> float:
        return self._backoff.wait_s(self._clock.monotonic_s())


def read_verdicts(body: bytes, record_ids: Sequence[str]) -> Verdicts | None:
    """Read `{"accepted", "duplicate", "set_aside": [{"record_id"}], "rejected": [{"index"}]}`; None for anything else."""
    try:
        raw = json.loads(body)
        rejected = {record_ids[int(item["index"])]: item.get("reason") for item in raw.get("rejected", [])}
        unheard = frozenset(record_id for record_id, reason in rejected.items() if reason == UNKNOWN_REPORT)
        return Verdicts(
            accepted=int(raw["accepted"]),
            duplicate=int(raw.get("duplicate", 0)),
            set_aside=frozenset(str(item["record_id"]) for item in raw.get("set_aside", [])),
            rejected=frozenset(rejected) - unheard,
            unheard=unheard,
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None
