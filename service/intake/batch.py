"""A batch: plain bytes → the bytes of its records, counted before they are cut, each read by itself."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import ClassVar, Final

import msgspec

from policies.errors import InvalidInput, MalformedJson
from service.intake.encodings import MAX_COMPRESSED_BYTES

MAX_RECORDS: Final = 2_000

UNREADABLE: Final = (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What reading JSON of strangers raises; the last of them where it nests thousands of levels deep."""


class TooManyRecords(InvalidInput):
    """More records than one batch may hold."""

    code: ClassVar[str] = "too-many-records"
    limit_bytes: ClassVar[int] = MAX_COMPRESSED_BYTES
    limit_items: ClassVar[int] = MAX_RECORDS
    splittable: ClassVar[bool] = True


def split(plain: bytes, *, ndjson: bool) -> list[bytes]:
    """The records' bytes, unread. Raises MalformedJson or TooManyRecords for the batch as a whole."""
    return _lines(plain) if ndjson else _elements(plain)


def several(beginning: bytes, *, ndjson: bool) -> bool | None:
    """Whether more than one record begins in the beginning of a batch; None where the first mebibyte does not tell."""
    if ndjson:
        return b"\n" in beginning.strip()
    text = beginning[:MAX_COMPRESSED_BYTES].decode("utf-8", "replace").lstrip().removeprefix("[").lstrip()
    try:
        _, end = _FIRST.raw_decode(text)
    except (ValueError, RecursionError):  # it ends within the first record
        return None if len(beginning) > MAX_COMPRESSED_BYTES + 1 else False
    return text[end:].lstrip().startswith(",")


_FIRST: Final = json.JSONDecoder()
# A list would be read to its end before its length is looked at: eight million elements in the 16 MiB of a bomb.
_ARRAY: Final = msgspec.json.Decoder(
    msgspec.defstruct(
        "Batch",
        [(f"record_{index}", msgspec.Raw, msgspec.Raw()) for index in range(MAX_RECORDS)],
        array_like=True,
        forbid_unknown_fields=True,
    )
)


def _lines(plain: bytes) -> list[bytes]:
    # Counted before they are cut: as many blank lines as records are borne, not sixteen million.
    if plain.count(b"\n") > 2 * MAX_RECORDS:
        raise _too_many()
    lines = [line for line in plain.split(b"\n") if line.strip()]
    if len(lines) > MAX_RECORDS:
        raise _too_many()
    return lines


def _elements(plain: bytes) -> list[bytes]:
    try:
        elements = map(bytes, msgspec.structs.astuple(_ARRAY.decode(plain)))
    except msgspec.ValidationError as error:
        if plain.lstrip().startswith(b"["):  # of an array, nothing but the length is validated here
            raise _too_many() from error
        raise MalformedJson(f"the body is no JSON array: {error}") from error
    except UNREADABLE as error:
        raise MalformedJson(f"the body is no JSON array: {error}") from error
    return list(takewhile(bool, elements))


def _too_many() -> TooManyRecords:
    return TooManyRecords(f"the batch has over {MAX_RECORDS} records", limit=MAX_RECORDS)
