"""INT8 slower than float. Null: INT8 takes at most 1.1 times as long as float on the same driver, SoC and model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log

from ml.findings.finding import Finding, precision_of
from ml.findings.pairs import MIN_PAIRS, Pair, slower
from ml.findings.seen import Seen
from ml.rollup import Cell, CellSummary

NULL_LOG_RATIO = log(1.1)
FLOATS = ("fp16", "fp32")


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a driver on which two models or more were measured in INT8 and in float."""
    for cohort, members in seen.delegating.items():
        integers = [own for own in members if precision_of(own.cell.arm) == "int8"]
        pairs = [
            Pair(own, other, own.log_p50_us - other.log_p50_us) for own in integers for other in _float(own, seen.cells)
        ]
        if len(pairs) >= MIN_PAIRS:
            of_int8 = cohort._replace(precision="int8")
            yield slower("int8-slower", of_int8, pairs, NULL_LOG_RATIO, "takes {} × as long in INT8 as in float")


def _float(own: CellSummary, cells: Mapping[Cell, CellSummary]) -> list[CellSummary]:
    """The same arm in float: FP16, else FP32, else nothing."""
    rest = own.cell.arm.removeprefix("int8")
    found = (cells.get(own.cell._replace(arm=precision + rest)) for precision in FLOATS)
    return [summary for summary in found if summary is not None][:1]
