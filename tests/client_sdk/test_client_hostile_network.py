"""What stands between a phone and the server (R-G2), over real sockets: proxies, portals, odd headers, half answers."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from sdk_builders import ManualClock, make_client, make_document

from nnfleet_client import FleetClient, Reason, Refresh, Transport

Answer = Callable[[bytes], bytes]
DOCUMENT = json.dumps(make_document()).encode()


class RawServer:
    """Answers every request with the bytes it is told to, and hangs up."""

    def __init__(self) -> None:
        self.answer: Answer = lambda request: ok(DOCUMENT)
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @property
    def address(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        """Stop taking connections."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self._one(connection)

    def _one(self, connection: socket.socket) -> None:
        request = connection.recv(65_536)
        self.requests.append(request)
        try:
            connection.sendall(self.answer(request))
        except OSError:
            return  # the client has heard enough


def ok(body: bytes, *headers: bytes, status: bytes = b"200 OK", size: int | None = None) -> bytes:
    length = b"Content-Length: %d" % (len(body) if size is None else size)
    return b"\r\n".join([b"HTTP/1.1 " + status, length, b"Connection: close", *headers, b"", body])


@pytest.fixture
def server() -> Iterator[RawServer]:
    made = RawServer()
    yield made
    made.close()


def asked(server: RawServer, clock: ManualClock, **settings: Any) -> FleetClient:
    """A client that holds a good document, which is stale by now."""
    client = make_client(Transport(f"http://{server.address}", **settings), clock)
    assert client.refresh().reason is Reason.FRESH
    clock.pass_s(100)
    return client


def then(server: RawServer, answer: bytes, **settings: Any) -> Refresh:
    """What a refresh comes to that is answered so; the good document stays whatever it is."""
    client = asked(server, ManualClock(), **settings)
    server.answer = lambda request: answer
    refreshed = client.refresh()
    assert client.decision("segmentation").release == 41
    return refreshed


@pytest.mark.parametrize(
    "tag", [b'"caf\xe9"', b'"\xc3\xa9"', b'"' + b"x" * 2_000 + b'"'], ids=["latin-1", "utf-8", "long"]
)
def test_a_tag_that_no_request_can_carry_is_not_sent_back(server: RawServer, tag: bytes) -> None:
    server.answer = lambda request: ok(DOCUMENT, b"ETag: " + tag)
    assert asked(server, ManualClock()).refresh().reason is Reason.FRESH
    assert b"if-none-match" not in server.requests[-1].lower()


@pytest.mark.parametrize("tag", [b'"r41"', b'W/"r41"', b"r41"])
def test_a_tag_is_sent_back_as_it_came(server: RawServer, tag: bytes) -> None:
    server.answer = lambda request: ok(DOCUMENT, b"ETag: " + tag)
    asked(server, ManualClock()).refresh()
    assert b"if-none-match: " + tag.lower() + b"\r\n" in server.requests[-1].lower()


def test_an_answer_in_gzip_is_read_and_asked_for(server: RawServer) -> None:
    newer = json.dumps(make_document(release=42)).encode()
    client = asked(server, ManualClock())
    server.answer = lambda request: ok(gzip.compress(newer), b"Content-Encoding: gzip")
    assert client.refresh().reason is Reason.FRESH
    assert client.decision("segmentation").release == 42
    assert b"accept-encoding: gzip\r\n" in server.requests[-1].lower()


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (ok(gzip.compress(bytes(8_000_000)), b"Content-Encoding: gzip"), "answer-too-big"),
        (ok(gzip.compress(DOCUMENT)[:200], b"Content-Encoding: gzip"), "network"),
        (ok(b"no gzip at all", b"Content-Encoding: gzip"), "network"),
        (ok(DOCUMENT[:500], size=len(DOCUMENT)), "network"),
        (b"", "network"),
        (b"\x15\x03\x01\x00\x02\x02\x50", "network"),
        (ok(b"<html>Sign in</html>", b"Content-Type: text/html"), "unreadable-document"),
        (ok(b"", b"Location: http://127.0.0.1:9/", status=b"302 Found"), "http-302"),
        (ok(b"", status=b"304 Not Modified", size=0), None),
        (ok(b"", b"Content-Encoding: gzip", status=b"304 Not Modified", size=0), None),
    ],
    ids=[
        "bomb",
        "half a gzip",
        "no gzip",
        "half an answer",
        "hung up",
        "TLS",
        "portal",
        "redirect",
        "304",
        "empty gzip",
    ],
)
def test_an_answer_that_is_none_leaves_the_good_document_and_says_why(
    server: RawServer, answer: bytes, code: str | None
) -> None:
    refreshed = then(server, answer)
    assert refreshed.error_code == code
    assert refreshed.reason is (Reason.STALE if code else Reason.NOT_MODIFIED)


def test_an_answer_that_trickles_in_for_ever_is_given_up(server: RawServer) -> None:
    ticks_s = count(0, 20)  # each look at the timer is 20 s later
    trickle = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 50
    client = make_client(Transport(f"http://{server.address}", timer_s=lambda: float(next(ticks_s))), ManualClock())
    server.answer = lambda request: trickle
    assert client.refresh().error_code == "timeout"


def test_a_server_that_cannot_prove_who_it_is_is_not_spoken_to(server: RawServer) -> None:
    client = make_client(Transport(f"https://{server.address}"), ManualClock())
    assert client.refresh().error_code == "network"
    assert not any(b"/v1/decisions" in request for request in server.requests)


@pytest.mark.parametrize("telemetry", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(server: RawServer, telemetry: str) -> None:
    answer = ok(DOCUMENT.replace(b'"flush_s": 3600', b'"flush_s": ' + telemetry.encode()))
    assert then(server, answer).error_code == "unreadable-document"


def test_an_expired_document_that_a_cache_calls_unchanged_is_not_asked_for_without_a_pause() -> None:
    server = RawServer()
    clock = ManualClock()
    client = asked(server, clock)
    clock.pass_s(40 * 86_400)
    server.answer = lambda request: ok(b"", status=b"304 Not Modified")
    refreshed = client.refresh()
    assert (refreshed.reason, refreshed.error_code) == (Reason.DEFAULT, "nothing-to-confirm")
    assert refreshed.wait_s >= 30
    server.close()
