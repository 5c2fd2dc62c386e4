"""Wrong executor. Null: the CPU executes at most a quarter of the cells that were given to the driver.

A driver refuses single graphs, and then the CPU runs them: that is coverage. One that hands back most of what it is given
is not the executor it is asked to be. Cells are counted, not windows: a graph is refused every time.
"""

from __future__ import annotations

from collections.abc import Iterator

from ml.findings.finding import Finding, share_p_value
from ml.findings.seen import Seen

NULL_SHARE = 0.25


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a driver that was given anything."""
    for cohort, given in seen.delegating.items():
        here = [summary for summary in given if 2 * summary.on_cpu > summary.measured]
        if given:
            evidence = tuple(
                {"model": s.cell.model, "arm": s.cell.arm, "windows": s.measured, "on_cpu": s.on_cpu} for s in here
            )
            detail = f"the CPU executes {len(here)} of the {len(given)} cells given to {cohort.target}"
            p_value = share_p_value(len(here), len(given), NULL_SHARE)
            yield Finding("wrong-executor", *cohort, p_value, sum(s.on_cpu for s in here), detail, evidence)
