"""Bodies as they come in: bounded, and given up where the client falls silent."""

from __future__ import annotations

from typing import IO, Final

from flask import request

from policies.errors import BodyTooLarge
from service.intake.encodings import UnsupportedEncoding

SILENCE_S: Final = 10.0
"""A client that has not sent for so long in the middle of a body is given up: it holds a thread."""


def bounded_body(limit: int) -> bytes:
    """The request's body, also a chunked one, as it came: only telemetry may be compressed.

    Raises BodyTooLarge without reading past the limit, and UnsupportedEncoding.
    """
    encoding = request.headers.get("Content-Encoding", "identity")
    if encoding.strip().lower() != "identity":
        raise UnsupportedEncoding(encoding, "identity")
    body = patient_stream().read(limit + 1)
    if len(body) > limit:
        raise BodyTooLarge(f"the body has over {limit} bytes", limit=limit)
    return body


def patient_stream() -> IO[bytes]:
    """The request's body as a stream, whose reading ends where the client is silent for `SILENCE_S`."""
    if (connection := request.environ.get("gunicorn.socket")) is not None:
        connection.settimeout(SILENCE_S)
    return request.stream
