"""A decision document as it goes out over HTTP."""

from __future__ import annotations

from typing import Final, NamedTuple

from service.deciding.signing import HEADER

CACHE_CONTROL: Final = "public, max-age=60, stale-while-revalidate=86400, stale-if-error=604800"

Headers = tuple[tuple[str, str], ...]


class Answer(NamedTuple):
    """Body and headers: all `headers` with the body, only `validators` where the client has it.

    `etag` is strong: a digest of the bytes.
    """

    body: bytes
    etag: str
    headers: Headers
    validators: Headers


def answer_of(body: bytes, body_sha256: str, signature: str, app: str, release: int) -> Answer:
    """The answer for a body. An empty signature: the installation signs nothing."""
    etag = f'"{body_sha256[:32]}"'
    signed = ((HEADER, signature),) if signature else ()
    validators = (("ETag", etag), ("Cache-Control", CACHE_CONTROL), *signed)
    headers = (
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        *validators,
        ("Surrogate-Key", f"release-{release} app-{app}"),
    )
    return Answer(body, etag, headers, validators)


def not_modified(if_none_match: str, etag: str) -> bool:
    """Whether a client's `If-None-Match` (a list, weak forms, or `*`) names this entity."""
    if if_none_match.strip() == "*":
        return True
    return any(tag.strip().removeprefix("W/") == etag for tag in if_none_match.split(","))
