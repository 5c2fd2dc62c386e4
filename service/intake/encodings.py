"""Content-Encoding: bytes as they came → plain bytes, bounded while they are inflated."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import ClassVar, Final

import zstandard

from policies.errors import InvalidInput

MAX_COMPRESSED_BYTES: Final = 1024 * 1024
MAX_INFLATED_BYTES: Final = 16 * 1024 * 1024
_CHUNK: Final = 256 * 1024
_ZSTD_PIECE: Final = 128
"""Compressed bytes taken at a time: four of them can stand for 128 KiB, so that a piece inflates to 4 MiB at most."""


class UnsupportedEncoding(InvalidInput):
    """A Content-Encoding that is none of those taken here: `accepts`."""

    code: ClassVar[str] = "unsupported-encoding"

    def __init__(self, encoding: str, accepts: str) -> None:
        super().__init__(f"the encoding {encoding!r} is not taken here: {accepts}", field="Content-Encoding")
        self.accepts = accepts


class MalformedBody(InvalidInput):
    """Bytes that are not what their Content-Encoding says, or that end too early."""

    code: ClassVar[str] = "malformed-body"


class TooManyBytes(Exception):
    """More bytes than the limit, as they came or inflated. `beginning` are the plain bytes that were seen."""

    def __init__(self, detail: str, limit_bytes: int, beginning: bytes) -> None:
        super().__init__(detail)
        self.detail = detail
        self.limit_bytes = limit_bytes
        self.beginning = beginning


def inflate(body: bytes, encoding: str) -> bytes:
    """The plain bytes; stops as soon as they pass the limit, so that a bomb costs no memory.

    Raises TooManyBytes, UnsupportedEncoding or MalformedBody. Of a body over the limit only a beginning need be given.
    """
    opener = _INFLATERS.get(encoding.strip().lower() or "identity")
    if opener is None:
        raise UnsupportedEncoding(encoding, "gzip, zstd, identity")
    plain = bytearray()
    try:
        for chunk in opener(body):
            plain += chunk
            if len(plain) > MAX_INFLATED_BYTES:
                detail = f"the body inflates to over {MAX_INFLATED_BYTES} bytes"
                raise TooManyBytes(detail, MAX_INFLATED_BYTES, bytes(plain))
    except MalformedBody:
        if len(body) <= MAX_COMPRESSED_BYTES:
            raise
    if len(body) > MAX_COMPRESSED_BYTES:
        raise TooManyBytes(f"the body has over {MAX_COMPRESSED_BYTES} bytes", MAX_COMPRESSED_BYTES, bytes(plain))
    return bytes(plain)


def _gzip(body: bytes) -> Iterator[bytes]:
    inflater = zlib.decompressobj(wbits=31)
    rest = body
    try:
        while rest and not inflater.eof:
            yield inflater.decompress(rest, _CHUNK)
            rest = inflater.unconsumed_tail
        while not inflater.eof and (chunk := inflater.decompress(b"", _CHUNK)):
            yield chunk
    except zlib.error as error:
        raise MalformedBody(f"the body is not gzip: {error}") from error
    if not inflater.eof or inflater.unused_data:
        raise MalformedBody("the gzip body ends too early or goes on after its end")


def _zstd(body: bytes) -> Iterator[bytes]:
    inflater = zstandard.ZstdDecompressor(max_window_size=8 * 1024 * 1024).decompressobj()
    read = 0
    try:
        while read < len(body) and not inflater.eof:
            yield inflater.decompress(body[read : read + _ZSTD_PIECE])
            read += _ZSTD_PIECE
    except zstandard.ZstdError as error:
        raise MalformedBody(f"the body is not zstd: {error}") from error
    if not inflater.eof or inflater.unused_data or read < len(body):
        raise MalformedBody("the zstd body ends too early or goes on after its end")


_INFLATERS: Final[dict[str, Callable[[bytes], Iterator[bytes]]]] = {
    "identity": lambda body: iter((body,)),
    "gzip": _gzip,
    "zstd": _zstd,
}
