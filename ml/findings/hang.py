"""Hangs. Null: at most one window in two hundred of the cohort holds a run that timed out."""

from __future__ import annotations

from collections.abc import Iterator

from ml.findings.finding import Finding, share_p_value
from ml.findings.seen import Seen

NULL_SHARE = 0.005


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a cohort."""
    for cohort, rows in seen.drivers_by_precision.items():
        windows = sum(row.windows for row in rows)
        timed_out = sum(row.timed_out for row in rows)
        if windows:
            detail = f"{timed_out} of {windows} windows of {cohort.target} ({cohort.precision}) timed out"
            evidence = tuple(
                {"model": r.cell.model, "arm": r.cell.arm, "windows": r.windows, "timed_out": r.timed_out}
                for r in rows
                if r.timed_out
            )
            p_value = share_p_value(timed_out, windows, NULL_SHARE)
            yield Finding("hang", *cohort, p_value, timed_out, detail, evidence)
