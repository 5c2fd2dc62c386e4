"""Failures that are counted, of a driver and a precision; of the driver where it fails in every precision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ml.findings.finding import Cohort, Finding, share_p_value
from ml.findings.seen import Seen
from ml.rollup import Rollup

Count = Callable[[Rollup], tuple[int, int]]
"""Failures, and what was tried, of a rollup."""


@dataclass(frozen=True)
class Failure:
    """`null_share` of what is tried may fail. `says` takes `failed`, `tried` and `driver`; `columns` name the two in evidence."""

    name: str
    count: Count
    null_share: float
    says: str
    columns: tuple[str, str]

    def detect(self, seen: Seen) -> Iterator[Finding]:
        """One hypothesis a driver and precision that was tried at all."""
        for cohort, rows in seen.drivers_by_precision.items():
            if any(self.count(row)[1] for row in rows):
                yield self.finding(cohort, rows)

    def finding(self, cohort: Cohort, rows: Sequence[Rollup]) -> Finding:
        """What the rollups of a cohort say of it."""
        failed, tried = _total(map(self.count, rows))
        driver = f"{cohort.target} ({cohort.precision})" if cohort.precision else cohort.target
        detail = self.says.format(failed=failed, tried=tried, driver=driver)
        p_value = share_p_value(failed, tried, self.null_share)
        return Finding(self.name, *cohort, p_value, failed, detail, tuple(self._evidence(rows)))

    def joined(self, findings: Sequence[Finding], seen: Seen) -> list[Finding]:
        """The findings; instead of several of one driver that fails in every precision there is one, where the first was."""
        found: dict[object, Finding] = {}
        for finding in findings:
            driver = Cohort(finding.soc, finding.target, "")
            if finding.name == self.name and self._in_every_precision(driver, seen):
                found.setdefault(driver, self.finding(driver, seen.drivers[driver]))
            else:
                found[id(finding)] = finding
        return list(found.values())

    def _in_every_precision(self, driver: Cohort, seen: Seen) -> bool:
        """Whether it was tried in several, and half of what was tried failed in each."""
        counts = [
            _total(map(self.count, rows))
            for cohort, rows in seen.drivers_by_precision.items()
            if cohort._replace(precision="") == driver
        ]
        told = [(failed, tried) for failed, tried in counts if tried]
        return len(told) > 1 and all(2 * failed >= tried for failed, tried in told)

    def _evidence(self, rows: Iterable[Rollup]) -> Iterator[Mapping[str, Any]]:
        """A row an arm that failed."""
        by_arm: defaultdict[tuple[str, str], list[Rollup]] = defaultdict(list)
        for row in rows:
            by_arm[row.cell.model, row.cell.arm].append(row)
        for (model, arm), members in sorted(by_arm.items()):
            failed, tried = _total(map(self.count, members))
            if failed:
                yield {"model": model, "arm": arm, self.columns[0]: failed, self.columns[1]: tried}


def _total(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    found = list(counts)
    return sum(failed for failed, _ in found), sum(tried for _, tried in found)
