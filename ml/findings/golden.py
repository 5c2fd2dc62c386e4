"""Wrong outputs. Null: at most one window in a hundred of the cohort fails its golden check."""

from __future__ import annotations

from collections.abc import Iterator

from ml.findings.finding import Finding, share_p_value
from ml.findings.seen import Seen

NULL_SHARE = 0.01


def detect(seen: Seen) -> Iterator[Finding]:
    """One hypothesis a cohort that was checked at all."""
    for cohort, rows in seen.drivers_by_precision.items():
        checked = sum(row.golden_checked for row in rows)
        failed = sum(row.golden_failed for row in rows)
        if checked:
            detail = f"{failed} of {checked} windows fail the golden check on {cohort.target} ({cohort.precision})"
            evidence = tuple(
                {"model": r.cell.model, "arm": r.cell.arm, "checked": r.golden_checked, "failed": r.golden_failed}
                for r in rows
                if r.golden_failed
            )
            p_value = share_p_value(failed, checked, NULL_SHARE)
            yield Finding("wrong-output", *cohort, p_value, failed, detail, evidence)
