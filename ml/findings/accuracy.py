"""Accuracy outlier. Null: a driver's outputs err at most three times as much as those of most SoCs on the same arm.

This looks at how wrong outputs are; `golden` counts the windows that are too wrong. An arm is compared with itself on
three other SoCs or more, so that a precision that is coarse everywhere is nobody's fault.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import exp, log
from statistics import median

from ml.findings.finding import Cohort, Finding, mean_p_value
from ml.findings.pairs import MIN_PAIRS
from ml.findings.seen import Seen
from ml.rollup import Cell

NULL_LOG_RATIO = log(3.0)
MIN_PEERS = 3


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a driver and precision with two cells or more that have peers."""
    errors = {c: s.golden_log_error for c, s in seen.cells.items() if s.golden_log_error is not None}
    peers: defaultdict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for cell, error in errors.items():
        peers[cell.app, cell.model, cell.arm][cell.group] = error
    for cohort, members in seen.drivers_by_precision.items():
        cells = sorted({row.cell for row in members} & errors.keys())
        excess = {c: errors[c] - usual for c in cells if (usual := _usual(peers[c.app, c.model, c.arm], c)) is not None}
        if len(excess) >= MIN_PAIRS:
            yield _finding(cohort, excess, sum(row.golden_checked for row in members))


def _usual(by_soc_error: Mapping[str, float], cell: Cell) -> float | None:
    others = [error for soc, error in by_soc_error.items() if soc != cell.group]
    return median(others) if len(others) >= MIN_PEERS else None


def _finding(cohort: Cohort, excess: Mapping[Cell, float], windows: int) -> Finding:
    values = list(excess.values())
    factor = exp(sum(values) / len(values))
    evidence = tuple(
        {"app": c.app, "model": c.model, "arm": c.arm, "factor": exp(value)} for c, value in excess.items()
    )
    detail = f"outputs of {cohort.target} ({cohort.precision}) err {factor:.1f} × as much as on other SoCs"
    return Finding("accuracy-outlier", *cohort, mean_p_value(values, NULL_LOG_RATIO), windows, detail, evidence)
