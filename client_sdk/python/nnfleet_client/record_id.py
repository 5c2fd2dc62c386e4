"""Record ids: UUID version 7 (RFC 9562 §5.7), from a time and a randomness that are passed in."""

from __future__ import annotations

import random
from uuid import UUID


def record_id(now_s: float, rng: random.Random) -> str:
    """A new id: 48 bits of Unix milliseconds, then 74 random bits. Ids sort by time to the millisecond."""
    unix_ms = int(now_s * 1000) & (2**48 - 1)
    value = unix_ms << 80 | 0x7 << 76 | rng.getrandbits(12) << 64 | 0b10 << 62 | rng.getrandbits(62)
    return str(UUID(int=value))
