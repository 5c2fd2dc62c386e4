"""Sticky assignment on the device: the unit id is hashed here and never leaves.

Bucket = (murmur3_32(UTF-8 of salt + ":" + unit id, seed 0) × 10,000) >> 32, integers only, so that every
language agrees. `tests/vectors/assign.json` holds the table that all clients and the server are held to.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import mmh3

from nnfleet_client.document import FULL_WEIGHT_BP, Split
from nnfleet_client.errors import InvalidUnitIdError

BUCKETS: Final = 10_000
HASH_NAME: Final = "murmur3-32/1"


class AssignedBy(StrEnum):
    """How a split came to be the one served."""

    BUCKET = "bucket"
    SINGLE_SPLIT = "single_split"
    NO_UNIT = "no_unit"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Assignment:
    """The split served (its place in the plan), how it was found, and the bucket where one was computed."""

    split_index: int
    assigned_by: AssignedBy
    bucket: int | None


def normalise_unit_id(unit_id: str) -> str:
    """The unit id in Unicode NFC, the only change made to it: spaces and case count.

    Raises InvalidUnitIdError for an empty id, for control characters and for lone surrogates (no UTF-8).
    """
    normal = unicodedata.normalize("NFC", unit_id)
    if not normal:
        raise InvalidUnitIdError("a unit id is empty")
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in normal):
        raise InvalidUnitIdError("a unit id holds control characters or lone surrogates")
    return normal


def bucket_of_hash(unsigned_hash: int) -> int:
    """0…9999 from an unsigned 32-bit hash, evenly, without a division that languages round differently."""
    return (unsigned_hash * BUCKETS) >> 32


def bucket_of(salt: str, unit_id: str) -> int:
    """0…9999 for an already normalised unit id."""
    return bucket_of_hash(mmh3.hash(f"{salt}:{unit_id}".encode(), 0, signed=False))


def assign(splits: Sequence[Split], salt: str, unit_id: str | None) -> Assignment:
    """The split of one unit.

    Splits are cumulative, in order: raising the first one's weight keeps everyone already in it. A split that
    holds the full weight needs no unit id. Without one nobody is drawn, and nobody is in a share that grows, which stands
    first: the last split that does not explore is served, and `NO_UNIT` says so.
    """
    whole = next((index for index, split in enumerate(splits) if split.weight_bp == FULL_WEIGHT_BP), None)
    if whole is not None:
        return Assignment(whole, AssignedBy.SINGLE_SPLIT, None)
    if unit_id is None:
        return Assignment(_last_that_does_not_explore(splits), AssignedBy.NO_UNIT, None)
    bucket = bucket_of(salt, unit_id)
    return Assignment(split_at(splits, bucket), AssignedBy.BUCKET, bucket)


def split_at(splits: Sequence[Split], bucket: int) -> int:
    """The place of the split that holds a bucket; weights add up to 10,000, so one always does."""
    upper = 0
    for index, split in enumerate(splits):
        upper += split.weight_bp
        if bucket < upper:
            return index
    raise ValueError(f"bucket {bucket} lies outside weights that add up to {upper}")


def _last_that_does_not_explore(splits: Sequence[Split]) -> int:
    return max((index for index, split in enumerate(splits) if not split.explore and split.weight_bp > 0), default=0)
