"""Hangs. Null: at most one window in two hundred of the cohort holds a run that timed out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ml.findings.finding import Finding, by_cohort, share_p_value
from ml.rollup import Rollup

NULL_SHARE = 0.005


def detect(rollups: Iterable[Rollup], soc_of: Mapping[str, str]) -> Iterator[Finding]:
    """One hypothesis a cohort."""
    for cohort, rows in by_cohort(rollups, soc_of, precision=True).items():
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
