"""Phantom acceleration: an NPU takes nearly the whole graph and is as fast as the CPU, because the CPU computes.

Null: it is over 1.35 times as fast, or as slow, as the CPU that runs the same variant on the same SoC (two
one-sided tests, Schuirmann 1987). A GPU is left out: the median phone's GPU is honestly as fast as its CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log

from ml.findings.finding import Finding, mean_p_value, over_cells
from ml.findings.pairs import file_key
from ml.findings.seen import Seen
from ml.rollup import CellSummary
from policies.catalog import accelerators

NULL_LOG_RATIO = log(1.35)
MIN_PAIRS = 2
WHOLE_GRAPH = 0.9
"""Share of nodes from which the delegate is said to have taken the graph: below, slowness has another name."""


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a cohort with at least two cells whose CPU arm was measured too."""
    for cohort, members in seen.drivers.items():
        if _is_gpu(cohort.target):
            continue
        whole = {row.cell for row in members if (row.delegated_share or 0.0) >= WHOLE_GRAPH and row.measured}
        pairs = [(seen.cells[cell], seen.cpu[key]) for cell in sorted(whole) if (key := file_key(cell)) in seen.cpu]
        if len(pairs) >= MIN_PAIRS:
            yield _finding(cohort, pairs)


def _is_gpu(target: str) -> bool:
    delegate, _, accelerator = target.partition(".")
    known = accelerators().find(accelerator)
    return delegate == "gpu" or (known is not None and known[1].kind == "gpu")


def _finding(cohort: tuple[str, str, str], pairs: list[tuple[CellSummary, CellSummary]]) -> Finding:
    ratios = [own.log_p50_us - cpu.log_p50_us for own, cpu in pairs]
    factor = exp(sum(ratios) / len(ratios))
    evidence = tuple(
        {
            "model": own.cell.model, "arm": own.cell.arm, "windows": own.measured,
            "accelerator_ms": exp(own.log_p50_us) / 1e3, "cpu_ms": exp(cpu.log_p50_us) / 1e3,
        }
        for own, cpu in pairs
    )  # fmt: skip
    detail = f"{cohort[1]} takes the graph and needs {factor:.2f} × the CPU's time, {over_cells(len(pairs))}"
    p_value = max(mean_p_value(ratios, -NULL_LOG_RATIO), mean_p_value([-ratio for ratio in ratios], -NULL_LOG_RATIO))
    return Finding("phantom-acceleration", *cohort, p_value, sum(own.measured for own, _ in pairs), detail, evidence)
