"""Partition cost. Null: a graph cut in pieces takes at most 1.05 times as long as the same file on the CPU alone."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

from ml.findings.finding import Finding
from ml.findings.pairs import MIN_PAIRS, Pair, file_key, slower
from ml.findings.seen import Seen
from ml.rollup import CellSummary

NULL_LOG_RATIO = log(1.05)


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a driver with two cells or more that run in pieces and whose CPU arm was measured too."""
    for cohort, members in seen.delegating.items():
        cut = [(own, seen.cpu[key]) for own in members if (key := file_key(own.cell)) in seen.cpu and _in_pieces(own)]
        pairs = [Pair(own, other, own.log_p50_us - other.log_p50_us) for own, other in cut]
        if len(pairs) >= MIN_PAIRS:
            yield slower(
                "partition-cost", cohort, pairs, NULL_LOG_RATIO, "runs graphs in pieces at {} × the CPU's time"
            )


def _in_pieces(summary: CellSummary) -> bool:
    """The delegate took something, not all, in more than one piece."""
    share = summary.delegated_share
    return (summary.partitions or 0.0) > 1 and share is not None and 0 < share < 1
