"""PostgreSQL's binary form of values that psycopg packs in Python, one by one: here in one go.

In a binary COPY a field is its length and its bytes, and the column says how they are read. So these go as they are.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_EPOCH_DAY: Final = _EPOCH.toordinal()
_INT4_OID: Final = 23


def timestamptz(moment: datetime) -> bytes:
    """A moment with its zone: microseconds since 2000 in eight bytes."""
    since = moment - _EPOCH
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds).to_bytes(8, "big", signed=True)


def day(value: date) -> bytes:
    """A date: days since 2000 in four bytes."""
    return (value.toordinal() - _EPOCH_DAY).to_bytes(4, "big", signed=True)


def jsonb(encoded: bytes) -> bytes:
    """JSON, encoded already: the version of the format, then the text."""
    return b"\x01" + encoded


def int4_array(values: Sequence[int]) -> bytes:
    """Integers of 32 bits: one dimension, no nulls, counted from one. Raises struct.error for a larger one."""
    pairs = [4] * (2 * len(values))
    pairs[1::2] = values
    return _array_of(len(values)).pack(1, 0, _INT4_OID, len(values), 1, *pairs)


@lru_cache(maxsize=1024)
def _array_of(length: int) -> struct.Struct:
    """Five numbers about an array of so many integers, then each with its size before it."""
    return struct.Struct(f">{5 + 2 * length}i")
