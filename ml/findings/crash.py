"""Crashes. Null: at most one start in two hundred of the cohort is followed by nothing."""

from __future__ import annotations

from collections.abc import Iterator

from ml.findings.finding import Finding, share_p_value
from ml.findings.seen import Seen

NULL_SHARE = 0.005


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a cohort that was started at all."""
    for cohort, rows in seen.drivers_by_precision.items():
        attempts = sum(row.attempts for row in rows)
        crashed = sum(row.crashed for row in rows)
        if attempts:
            detail = f"{crashed} of {attempts} starts of {cohort.target} ({cohort.precision}) ended the process"
            evidence = tuple(
                {"model": r.cell.model, "arm": r.cell.arm, "attempts": r.attempts, "crashed": r.crashed}
                for r in rows
                if r.crashed
            )
            p_value = share_p_value(crashed, attempts, NULL_SHARE)
            yield Finding("crash", *cohort, p_value, crashed, detail, evidence)
