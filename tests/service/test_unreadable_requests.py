"""What never reaches the application, over a raw socket: gunicorn's refusals are problems too."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from service.server import running_server
from service.settings import Settings

HOST = b"Host: fleet.example\r\n"
CHUNKED = b"POST /v1/telemetry HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def address(database_url: str) -> Iterator[tuple[str, int]]:
    with running_server(Settings(database_url, log_level="critical"), workers=1, threads=2) as url:
        parts = urlsplit(url)
        assert parts.hostname
        assert parts.port
        yield parts.hostname, parts.port


def sent(address: tuple[str, int], request: bytes) -> tuple[int, str, Any]:
    """(status, media type, problem) that the bytes are answered with, until the server closes the connection."""
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *headers = head.decode("ascii").split("\r\n")
    kinds = [line.partition(": ")[2] for line in headers if line.lower().startswith("content-type: ")]
    return int(status.split()[1]), kinds[0], json.loads(body)


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        pytest.param(b"GARBAGE\r\n\r\n", 400, "bad-request", id="no request line"),
        pytest.param(b"g@t / HTTP/1.1\r\n" + HOST + b"\r\n", 400, "bad-request", id="no method"),
        pytest.param(b"GET / HTTP/7.1\r\n" + HOST + b"\r\n", 400, "bad-request", id="no version"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400, "bad-request", id="TLS"),
        pytest.param(b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400, "bad-request", id="no header"),
        pytest.param(
            b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, "request-uri-too-long", id="long"
        ),
        pytest.param(
            b"GET / HTTP/1.1\r\nX: " + b"a" * 9000 + b"\r\n\r\n", 431, "request-header-fields-too-large", id="header"
        ),
        pytest.param(
            b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 200 + b"\r\n", 431, "request-header-fields-too-large", id="headers"
        ),
        pytest.param(b"GET / HTTP/1.1\r\nExpect: wonders\r\n\r\n", 417, "expectation-failed", id="Expect"),
        pytest.param(b"POST / HTTP/1.1\r\nTransfer-Encoding: foo\r\n\r\n", 501, "not-implemented", id="coding"),
        pytest.param(b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400, "bad-request", id="negative length"),
        pytest.param(CHUNKED + b"zz\r\nabc\r\n0\r\n\r\n", 400, "bad-request", id="chunk without a size"),
        pytest.param(CHUNKED + b"3\r\nabcdef\r\n0\r\n\r\n", 400, "bad-request", id="chunk that goes on"),
    ],
)
def test_what_gunicorn_cannot_read_is_answered_with_a_problem(
    address: tuple[str, int], request_bytes: bytes, status: int, code: str
) -> None:
    answered, kind, problem = sent(address, request_bytes.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
    assert (answered, kind) == (status, "application/problem+json")
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["type"] == f"urn:nnfleet:problem:{code}"


def test_a_body_that_is_announced_too_large_is_refused_before_it_comes(address: tuple[str, int]) -> None:
    head = f"PUT /v1/reports/{'0' * 64} HTTP/1.1\r\nContent-Length: {10**20}\r\nConnection: close\r\n\r\n"
    answered, _, problem = sent(address, head.encode())
    assert (answered, problem["code"]) == (413, "body-too-large")
