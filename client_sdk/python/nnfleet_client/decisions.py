"""Fetching decisions: the only conversation between transport and store."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass
from typing import Final

from nnfleet_client.backoff import Backoff
from nnfleet_client.clock import Clock
from nnfleet_client.headers import etag, fresh_for_s, retry_after_s
from nnfleet_client.seal import SIGNATURE_HEADER, Seal
from nnfleet_client.store import DecisionStore, Reason
from nnfleet_client.transport import Answer, NoAnswer, Transport

UNKNOWN_REPORT: Final = "unknown-report"
NOTHING_NEWER: Final = frozenset({204, 304})
# Phones that fetched together (a release, an app update) must not return together.
FRESHNESS_JITTER: Final = 0.1


@dataclass(frozen=True, slots=True)
class Refresh:
    """What one call of `refresh` came to.

    `asked` is False where the network was left alone (still fresh, or cooling down). `reason` is the standing of
    the store afterwards, `error_code` what went wrong in this or the last attempt, `wait_s` when to come back.
    """

    asked: bool
    reason: Reason
    error_code: str | None
    wait_s: float


class DecisionFetcher:
    """Keeps a store fresh: asks with its ETag, uploads the report once where it is unknown, backs off on failure."""

    def __init__(
        self,
        app: str,
        report_id: str,
        report: bytes,
        store: DecisionStore,
        seal: Seal,
        transport: Transport,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._app = app
        self._report_id = report_id
        self._report = report
        self._store = store
        self._seal = seal
        self._transport = transport
        self._clock = clock
        self._rng = rng
        self._backoff = Backoff(rng)
        self._linger = 0.0
        self._last_error: str | None = None
        self._lock = threading.Lock()

    @property
    def last_error(self) -> str | None:
        """The code of the last attempt's failure; None after a success."""
        return self._last_error

    def refresh(self, force: bool = False) -> Refresh:
        """Ask the server where it is time to.

        Does nothing while the document is fresh (unless forced) or while cooling down after a failure (always).
        On 200 the store applies the document or refuses it; on 304 or 204 it is fresh again; on 404 `unknown-report` the
        report is uploaded and the question asked once more. Anything else — 401, 403, 5xx, no network, garbage —
        leaves the last good document in place and starts the cool-down. Never raises for any answer.
        """
        if not self._lock.acquire(blocking=False):
            return self._outcome(asked=False)  # another thread is asking right now
        try:
            due = self._is_due(force)
            if due:
                answer = self._ask()
                self._last_error = self._apply(answer)
                self._note(answer)
        finally:
            self._lock.release()
        return self._outcome(asked=due)

    def upload_report(self) -> bool:
        """Upload the report; True where the server has it now."""
        return _worked(self._put_report())

    def _is_due(self, force: bool) -> bool:
        cooling_down = self._backoff.wait_s(self._clock.monotonic_s()) > 0
        return not cooling_down and (force or self._fresh_wait_s() == 0)

    def _ask(self) -> Answer | NoAnswer:
        answer = self._get()
        if not isinstance(answer, Answer) or answer.status != 404 or answer.problem_code() != UNKNOWN_REPORT:
            return answer
        uploaded = self._put_report()
        return self._get() if _worked(uploaded) else uploaded

    def _put_report(self) -> Answer | NoAnswer:
        return self._transport.put_report(self._report_id, self._report)

    def _get(self) -> Answer | NoAnswer:
        return self._transport.get_decision(self._app, self._report_id, self._store.etag(self._clock.now_s()))

    def _apply(self, answer: Answer | NoAnswer) -> str | None:
        if isinstance(answer, NoAnswer):
            return answer.code
        now_s = self._clock.now_s()
        if answer.status == 200:
            refusal = self._seal.refusal(answer.body, answer.headers.get(SIGNATURE_HEADER), now_s)
            return refusal or self._store.apply(answer.body, etag(answer.headers), fresh_for_s(answer.headers), now_s)
        if answer.status in NOTHING_NEWER:
            return self._store.confirm(fresh_for_s(answer.headers), now_s)
        return answer.failure_code()

    def _note(self, answer: Answer | NoAnswer) -> None:
        if self._last_error is None:
            self._linger = self._rng.random()
            self._backoff.success()
            return
        headers = answer.headers if isinstance(answer, Answer) else {}
        self._backoff.failure(self._clock.monotonic_s(), retry_after_s(headers, self._clock.now_s()))

    def _fresh_wait_s(self) -> float:
        held, now_s = self._store.held, self._clock.now_s()
        if held is None or now_s >= held.document.expires_at_s or now_s < held.confirmed_at_s:
            return 0.0
        lifetime_s = held.fresh_for_s * (1 + FRESHNESS_JITTER * self._linger)
        return max(0.0, held.confirmed_at_s + lifetime_s - now_s)

    def _outcome(self, asked: bool) -> Refresh:
        standing = self._store.standing(self._clock.now_s())
        wait_s = max(self._backoff.wait_s(self._clock.monotonic_s()), self._fresh_wait_s())
        return Refresh(asked, standing.reason, self._last_error or standing.error_code, wait_s)


def _worked(answer: Answer | NoAnswer) -> bool:
    # A page for people is no server of ours: a portal says 200 to anything.
    return isinstance(answer, Answer) and answer.status in {200, 201, 204} and not answer.is_page
