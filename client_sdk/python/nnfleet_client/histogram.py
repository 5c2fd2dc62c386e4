"""Latency as counts of logarithmic buckets: mergeable, with a stated error.

Bucket i holds latencies in (γ^(i−1), γ^i] microseconds, γ = 1.02; what lies at or under 1 µs is in bucket 0. A
quantile is the value 2γ^i/(γ+1) of its bucket, at most (γ−1)/(γ+1) < 1 % away from the recorded latency
(Masson, Rim, Lee: DDSketch, VLDB 2019).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Final, Self

from nnfleet_client.errors import InvalidHistogramError

GAMMA: Final = 1.02
_LOG_GAMMA: Final = math.log(GAMMA)


def bucket_index(latency_us: float) -> int:
    """The bucket of a latency in microseconds. Raises ValueError for a negative or non-finite one."""
    if not 0 <= latency_us < math.inf:
        raise ValueError(f"a latency of {latency_us} µs")
    return math.ceil(math.log(latency_us) / _LOG_GAMMA) if latency_us > 1 else 0


def bucket_value_us(index: int) -> float:
    """The latency that stands for a bucket, in microseconds."""
    return 2 * GAMMA**index / (GAMMA + 1)


class Histogram:
    """Counts by bucket. Merging adds counts, so order and grouping never matter."""

    __slots__ = ("_counts",)

    def __init__(self, counts: Mapping[int, int] | None = None) -> None:
        self._counts: Counter[int] = Counter(counts or {})

    @property
    def total(self) -> int:
        """How many latencies were recorded."""
        return self._counts.total()

    @property
    def counts(self) -> dict[int, int]:
        """Counts by bucket, in rising order."""
        return dict(sorted(self._counts.items()))

    def record(self, latency_us: float) -> None:
        """Count one latency, in microseconds. Raises ValueError for a negative or non-finite one."""
        self._counts[bucket_index(latency_us)] += 1

    def merge(self, other: Histogram) -> Histogram:
        """A new histogram with the counts of both."""
        return Histogram(self._counts + other._counts)

    def quantile_us(self, quantile: float) -> float:
        """The latency at a quantile (0…1), upper rank: element ⌈quantile × total⌉ in rising order, at least the first.

        Within 1 % of that element. Raises ValueError for an empty histogram or a quantile outside 0…1.
        """
        if not 0 <= quantile <= 1 or not self._counts:
            raise ValueError(f"quantile {quantile} of {self.total} latencies")
        rank = max(1, math.ceil(quantile * self.total))
        counts = self.counts
        reached = zip(counts, accumulate(counts.values()), strict=True)
        return bucket_value_us(next(index for index, seen in reached if seen >= rank))

    def to_json(self) -> dict[str, Any]:
        """The wire form: `{"gamma": 1.02, "counts": {"324": 12}}`."""
        return {"gamma": GAMMA, "counts": {str(index): count for index, count in self.counts.items()}}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read the wire form. Raises InvalidHistogramError for another gamma, a bucket or a count below 0 or 1."""
        counts = {int(index): count for index, count in raw["counts"].items()}
        if raw["gamma"] != GAMMA or any(index < 0 or count < 1 for index, count in counts.items()):
            raise InvalidHistogramError(f"gamma {raw['gamma']}, {len(counts)} buckets")
        return cls(counts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Histogram) and self._counts == other._counts

    __hash__ = None  # type: ignore[assignment]  # counts change

    def __repr__(self) -> str:
        return f"Histogram({self.counts})"
