"""What the phones were told: acknowledged records, lookups and their times. Judged against the database at the end."""

from __future__ import annotations

import gzip
import json
import math
import threading
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import httpx

from nnfleet_client import Transport
from nnfleet_client.transport import Answer, NoAnswer


class Ledger:
    """Thread-safe notes of one demo."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lookups_ms: list[float] = []
        self.acknowledged: set[UUID] = set()

    def on_http(self, _method: str, route: str, _status: int | None, elapsed_ms: float) -> None:
        """The SDK's hook: the time of every lookup."""
        with self._lock:
            if route.startswith("/v1/decisions/"):
                self._lookups_ms.append(elapsed_ms)

    def acknowledge(self, sent: bytes, answer: Mapping[str, Any]) -> None:
        """Note the records of a batch that the server says it has: accepted, duplicate or set aside."""
        rejected = {row["index"] for row in answer["rejected"]}
        lines = gzip.decompress(sent).splitlines()
        kept = {UUID(json.loads(line)["record_id"]) for index, line in enumerate(lines) if index not in rejected}
        with self._lock:
            self.acknowledged |= kept

    @property
    def lookups(self) -> int:
        """Lookups made so far."""
        return len(self._lookups_ms)

    def lookup_quantile_ms(self, q: float) -> float:
        """A quantile of the lookups' round trips, as the phones saw them; NaN before the first."""
        ordered = sorted(self._lookups_ms)
        return ordered[min(len(ordered) - 1, math.ceil(q * len(ordered)) - 1)] if ordered else math.nan


class NotingTransport(Transport):
    """The SDK's transport, which also notes what the server acknowledged."""

    def __init__(self, server: str, http: httpx.Client, ledger: Ledger) -> None:
        super().__init__(server, http=http, on_http=ledger.on_http)
        self._ledger = ledger

    def post_telemetry(self, gzipped_ndjson: bytes) -> Answer | NoAnswer:
        """Send a batch and note the verdict."""
        answer = super().post_telemetry(gzipped_ndjson)
        if isinstance(answer, Answer) and answer.status == 200:
            self._ledger.acknowledge(gzipped_ndjson, json.loads(answer.body))
        return answer
