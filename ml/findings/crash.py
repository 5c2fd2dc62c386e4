"""Crashes. Null: at most one start in two hundred of the cohort is followed by nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ml.findings.finding import Finding, by_cohort, share_p_value
from ml.rollup import Rollup

NULL_SHARE = 0.005


def detect(rollups: Iterable[Rollup], soc_of: Mapping[str, str]) -> Iterator[Finding]:
    """One hypothesis a cohort that was started at all."""
    for cohort, rows in by_cohort(rollups, soc_of, precision=True).items():
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
