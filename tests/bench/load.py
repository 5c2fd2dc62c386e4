"""A load generator that costs little: keep-alive connections, raw bytes, a bounded number of requests, loopback only."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

TIMEOUT_S: Final = 20
_CHUNK: Final = 65_536


class WrongAnswer(RuntimeError):
    """The server answered with another status than the run is about."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where to connect on this machine."""

    port: int

    def connect(self) -> socket.socket:
        """A new connection, without Nagle's delay."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


def get(path: str, if_none_match: str | None = None) -> bytes:
    """The bytes of a GET request."""
    condition = f"If-None-Match: {if_none_match}\r\n" if if_none_match else ""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{condition}\r\n".encode()


def drive(server: Server, requests: Sequence[bytes], count: int, connections: int, status: int) -> None:
    """Send `count` requests over `connections` connections at once, each waiting for its answer.

    Raises WrongAnswer where one has another status, and OSError where the server does not answer in time.
    """
    failures: list[Exception] = []

    def work(start: int) -> None:
        try:
            _one_connection(server, requests[start:] + requests[:start], count // connections, status)
        except (OSError, WrongAnswer) as error:
            failures.append(error)

    starts = [index * len(requests) // connections for index in range(connections)]
    threads = [threading.Thread(target=work, args=(start,)) for start in starts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def _one_connection(server: Server, requests: Sequence[bytes], count: int, status: int) -> None:
    wanted = f"HTTP/1.1 {status} ".encode()
    with server.connect() as connection:
        for number in range(count):
            connection.sendall(requests[number % len(requests)])
            head = _read_answer(connection)
            if not head.startswith(wanted):
                raise WrongAnswer(head.partition(b"\r\n")[0].decode())


def _read_answer(connection: socket.socket) -> bytes:
    """The head of an answer whose body was read to its end."""
    received = bytearray()
    while (end := received.find(b"\r\n\r\n")) < 0:
        received += _some(connection)
    head = bytes(received[:end])
    left = end + 4 + _content_length(head) - len(received)
    while left > 0:
        left -= len(_some(connection))
    return head


def _some(connection: socket.socket) -> bytes:
    chunk = connection.recv(_CHUNK)
    if not chunk:
        raise ConnectionError("the server closed the connection")
    return chunk


def _content_length(head: bytes) -> int:
    at = head.lower().find(b"\r\ncontent-length:")
    return int(head[at + 17 :].partition(b"\r\n")[0]) if at >= 0 else 0
