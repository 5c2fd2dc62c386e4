"""Sticky assignment: a salted hash of an id that never leaves the device, and shares out of 10,000.

The same rule stands in every client. Shared vectors: `tests/vectors/assign.json`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

import mmh3

BUCKETS: Final = 10_000
HASH: Final = "murmur3-32/1"
"""Named in every document. A change of the rule is a new name, never a new meaning of this one."""


def bucket(salt: str, unit_id: str) -> int:
    """Bucket 0…9999 of a unit: (murmur3_32 of the UTF-8 of `salt:unit_id`, seed 0) × 10,000 >> 32.

    Integers only, so that every language agrees. The unit id is NFC-normalised first.
    """
    text = f"{salt}:{unicodedata.normalize('NFC', unit_id)}"
    return (mmh3.hash(text.encode(), 0, signed=False) * BUCKETS) >> 32


def choose(weights_bp: Sequence[int], bucket_number: int) -> int | None:
    """Index of the split that holds the bucket, or None past the last. Splits are cumulative, in order."""
    upper = 0
    for index, weight_bp in enumerate(weights_bp):
        upper += weight_bp
        if bucket_number < upper:
            return index
    return None


def certain(weights_bp: Sequence[int]) -> int | None:
    """Index of the split that every unit gets, also one that nobody named; None where there is something to draw."""
    return next((index for index, weight_bp in enumerate(weights_bp) if weight_bp == BUCKETS), None)
