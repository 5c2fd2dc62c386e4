"""Bodies as they come in: bounded."""

from __future__ import annotations

from flask import request

from policies.errors import BodyTooLarge
from service.intake.encodings import UnsupportedEncoding


def bounded_body(limit: int) -> bytes:
    """The request's body, also a chunked one, as it came: only telemetry may be compressed.

    Raises BodyTooLarge without reading past the limit, or anything where it is announced, and UnsupportedEncoding.
    """
    encoding = request.headers.get("Content-Encoding", "identity")
    if encoding.strip().lower() != "identity":
        raise UnsupportedEncoding(encoding, "identity")
    announced = request.content_length or 0
    body = b"" if announced > limit else request.stream.read(limit + 1)
    if max(announced, len(body)) > limit:
        raise BodyTooLarge(f"the body has over {limit} bytes", limit=limit)
    return body
