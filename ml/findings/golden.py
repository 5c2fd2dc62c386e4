"""Wrong outputs. Null: at most one window in a hundred of the cohort fails its golden check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ml.findings.finding import Finding, by_cohort, share_p_value
from ml.rollup import Rollup

NULL_SHARE = 0.01


def detect(rollups: Iterable[Rollup], soc_of: Mapping[str, str]) -> Iterator[Finding]:
    """One hypothesis a cohort that was checked at all."""
    for cohort, rows in by_cohort(rollups, soc_of, precision=True).items():
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
