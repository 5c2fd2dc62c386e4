"""HTTP, and nothing but: a transport only sends. It keeps no state and decides nothing.

One transport, with its one `httpx.Client`, serves any number of clients: a thousand phones in one process share its
connections. It may be called from several threads.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx

# The largest answer that is read: a captive portal may send anything.
MOST_ANSWER_BYTES: Final = 4 * 1024 * 1024
TIMEOUT_S: Final = 10.0

HttpHook = Callable[[str, str, int | None, float], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said: status, headers (lower-case names), body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def problem(self) -> Mapping[str, Any]:
        """The RFC 9457 problem in the body; empty where there is none."""
        if not self.headers.get("content-type", "").startswith("application/problem+json"):
            return {}
        try:
            problem = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return problem if isinstance(problem, dict) else {}

    def problem_code(self) -> str | None:
        """The problem's stable code, if the answer is a problem of ours."""
        code = self.problem().get("code")
        return code if isinstance(code, str) else None

    def failure_code(self) -> str:
        """A code for an answer that was no success: the problem's own, else `http-<status>`."""
        return self.problem_code() or f"http-{self.status}"


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The network gave nothing usable. `code`: `timeout`, `network` or `answer-too-big`."""

    code: str


class Transport:
    """The four calls a device makes.

    `server` is the base URL. `http` is shared, not owned: who passes it closes it. `on_http(method, route, status,
    elapsed_ms)` is called after every call with the route's template (never an id) and None for no answer.
    """

    def __init__(
        self,
        server: str,
        *,
        http: httpx.Client | None = None,
        headers: Mapping[str, str] | None = None,
        on_http: HttpHook | None = None,
        timer_s: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._server = server.rstrip("/")
        self._http = httpx.Client(timeout=TIMEOUT_S) if http is None else http
        self._owns_http = http is None
        self._headers = dict(headers or {})
        self._on_http = on_http
        self._timer_s = timer_s

    def get_decision(self, app: str, report_id: str, etag: str | None) -> Answer | NoAnswer:
        """`GET /v1/decisions/{app}/{report_id}`, conditional where an ETag is given."""
        condition = {} if etag is None else {"If-None-Match": etag}
        path = f"/v1/decisions/{quote(app, safe='')}/{report_id}"
        return self._send("GET", "/v1/decisions/{app}/{report_id}", path, condition)

    def put_report(self, report_id: str, report: bytes) -> Answer | NoAnswer:
        """`PUT /v1/reports/{report_id}`: the exact bytes the id is the digest of."""
        headers = {"Content-Type": "application/json"}
        return self._send("PUT", "/v1/reports/{report_id}", f"/v1/reports/{report_id}", headers, report)

    def post_telemetry(self, gzipped_ndjson: bytes) -> Answer | NoAnswer:
        """`POST /v1/telemetry`: one batch of observations."""
        headers = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
        return self._send("POST", "/v1/telemetry", "/v1/telemetry", headers, gzipped_ndjson)

    def close(self) -> None:
        """Close the connections this transport opened; a passed-in `http` stays open."""
        if self._owns_http:
            self._http.close()

    def _send(
        self, method: str, route: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Answer | NoAnswer:
        started_s = self._timer_s()
        answer = self._exchange(method, path, headers, body)
        if self._on_http is not None:
            status = answer.status if isinstance(answer, Answer) else None
            self._on_http(method, route, status, (self._timer_s() - started_s) * 1000)
        return answer

    def _exchange(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Answer | NoAnswer:
        url = self._server + path
        try:
            with self._http.stream(method, url, headers=self._headers | dict(headers), content=body) as response:
                return _read(response)
        except httpx.TimeoutException:
            return NoAnswer("timeout")
        except (httpx.HTTPError, httpx.InvalidURL):
            return NoAnswer("network")


def _read(response: httpx.Response) -> Answer | NoAnswer:
    chunks: list[bytes] = []
    size_bytes = 0
    for chunk in response.iter_bytes():
        size_bytes += len(chunk)
        if size_bytes > MOST_ANSWER_BYTES:
            return NoAnswer("answer-too-big")
        chunks.append(chunk)
    return Answer(response.status_code, response.headers, b"".join(chunks))
