"""HTTP, and nothing but: a transport only sends. It keeps no state and decides nothing.

One transport, with its one `httpx.Client`, serves any number of clients: a thousand phones in one process share its
connections. It may be called from several threads.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx

# The largest answer that is read: a captive portal may send anything.
MOST_ANSWER_BYTES: Final = 4 * 1024 * 1024
TIMEOUT_S: Final = 10.0
# For the whole of a body: one that comes a byte at a time, each in time, would hold the radio on for days.
ANSWER_S: Final = 30.0
_CHUNK_BYTES: Final = 64 * 1024

HttpHook = Callable[[str, str, int | None, float], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said: status, headers (lower-case names), body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_page(self) -> bool:
        """Whether it is meant for people: HTML."""
        return self.headers.get("content-type", "").lower().startswith("text/html")

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
        answer = self._exchange(method, path, headers, body, started_s + ANSWER_S)
        if self._on_http is not None:
            status = answer.status if isinstance(answer, Answer) else None
            self._on_http(method, route, status, (self._timer_s() - started_s) * 1000)
        return answer

    def _exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, deadline_s: float
    ) -> Answer | NoAnswer:
        url = self._server + path
        headers = self._headers | {"Accept-Encoding": "gzip"} | dict(headers)
        try:
            with self._http.stream(method, url, headers=headers, content=body) as response:
                return self._read(response, deadline_s)
        except httpx.TimeoutException:
            return NoAnswer("timeout")
        except (httpx.HTTPError, httpx.InvalidURL, zlib.error):
            return NoAnswer("network")

    def _read(self, response: httpx.Response, deadline_s: float) -> Answer | NoAnswer:
        content = bytearray()
        for chunk in _inflated(response):
            content += chunk
            if len(content) > MOST_ANSWER_BYTES:
                return NoAnswer("answer-too-big")
            if self._timer_s() > deadline_s:
                return NoAnswer("timeout")
        return Answer(response.status_code, response.headers, bytes(content))


def _inflated(response: httpx.Response) -> Iterator[bytes]:
    """The body, out of gzip where it is in it: in small pieces, for a few bytes may inflate to gigabytes."""
    if response.is_stream_consumed:  # a hook of the app's own HTTP client has read it, and httpx inflated it
        yield response.content
        return
    if response.headers.get("content-encoding", "").strip().lower() != "gzip":
        yield from response.iter_raw()
        return
    inflating = zlib.decompressobj(zlib.MAX_WBITS | 16)
    begun = False
    for chunk in response.iter_raw():
        begun, waiting = True, chunk
        while waiting and not inflating.eof:
            yield inflating.decompress(waiting, _CHUNK_BYTES)
            waiting = inflating.unconsumed_tail
    if begun and not inflating.eof:
        raise zlib.error("the answer ends too early")
