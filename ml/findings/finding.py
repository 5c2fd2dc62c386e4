"""A finding and the cohorts that detectors look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.stats import binomtest, norm

from ml.cohort import Control
from ml.rollup import Cell, Rollup, regrouped

ANY: Final = "*"
"""A finding that names no SoC, or nothing that executes: it is of all of them."""


class Cohort(NamedTuple):
    """SoC × what executes (`delegate` or `delegate.accelerator`) × precision ("" where a detector pools them)."""

    soc: str
    target: str
    precision: str


def over_cells(count: int) -> str:
    """As details end: `over 1 cell`, `over 4 cells`."""
    return f"over {count} cell{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class Finding:
    """`p_value` under the detector's null; `windows` (or reports) that stand behind it; `evidence` rows to check it by.

    `quarantine`: attribute → value (`soc`, `target`, `precision`, `model`), the narrowest cohort a deny would name; empty
    where there is nothing to deny. `control`: the cohort against the same phones without it, None where nothing fails.
    `operation`: the one behind the failures, where one is. `of`: what else the finding is stated for (`model`, `format`);
    `socs`: those it was seen on, where it is of none by itself. Severity is who has it: `classes`, device classes, and `uses`,
    their share of all windows of the fleet.

    Windows, not devices: no id of a unit ever reaches the server, so devices cannot be told apart.
    """

    name: str
    soc: str
    target: str
    precision: str
    p_value: float
    windows: int
    detail: str
    evidence: tuple[Mapping[str, Any], ...]
    quarantine: Mapping[str, str] = field(default_factory=dict)
    control: Control | None = None
    operation: str | None = None
    classes: int = 0
    uses: float = 0.0
    of: Mapping[str, str] = field(default_factory=dict)
    socs: tuple[str, ...] = ()

    @property
    def arms(self) -> str:
        """The arms that are suspected, as a glob."""
        return f"{self.precision or ANY}.{self.of.get('format', ANY)}.{self.target}"

    def covers(self, cell: Cell, soc: str) -> bool:
        """Whether a cell of phones with this SoC is among what is suspected."""
        there = soc in self.socs if self.socs else self.soc in {ANY, soc}
        model = self.quarantine.get("model", f"{cell.app}/{cell.model}")
        arms = self.target == ANY or fnmatchcase(cell.arm, self.arms)
        return there and arms and model == f"{cell.app}/{cell.model}"

    @property
    def may_quarantine(self) -> bool:
        """Whether the evidence is enough for a quarantine that nobody has looked at."""
        return bool(self.quarantine) and self.control is not None and self.control.holds

    def to_json(self) -> dict[str, Any]:
        """Plain values for a release's evidence and the console, as `docs/findings.md` describes them."""
        return {
            "name": self.name, "soc": self.soc, "arms": [self.arms], "p_value": self.p_value, "windows": self.windows,
            "detail": self.detail, "evidence": [dict(row) for row in self.evidence],
            "quarantine": dict(self.quarantine), "control": self.control.to_json() if self.control else None,
            "may_quarantine": self.may_quarantine, "operation": self.operation, "classes": self.classes,
            "uses": self.uses, "of": dict(self.of), "socs": list(self.socs),
        }  # fmt: skip


def target_of(arm: str) -> str:
    """What executes an arm: its id without precision and format; all of an id that is not made that way."""
    return arm.split(".", 2)[-1]


def precision_of(arm: str) -> str:
    """The precision in an arm id."""
    return arm.split(".", 1)[0]


def cohort_of(cell: Cell, *, precision: bool = True) -> Cohort:
    """The cohort of a cell whose group is its SoC."""
    return Cohort(cell.group, target_of(cell.arm), precision_of(cell.arm) if precision else "")


def by_cohort(rollups: Iterable[Rollup], soc_of: Mapping[str, str], *, precision: bool) -> dict[Cohort, list[Rollup]]:
    """Rollups of arms that delegate, by cohort, with the SoC for their group.

    A fleet has many device classes and few phones of most: what a cell shows is seen once classes are pooled by SoC.
    """
    return cohorts_of(regrouped(rollups, soc_of), precision=precision)


def cohorts_of(of_socs: Iterable[Rollup], *, precision: bool) -> dict[Cohort, list[Rollup]]:
    """Rollups whose group is their SoC, by cohort; the CPU is nobody's suspect here."""
    cohorts: defaultdict[Cohort, list[Rollup]] = defaultdict(list)
    for rollup in of_socs:
        cohort = cohort_of(rollup.cell, precision=precision)
        if cohort.target != "cpu":
            cohorts[cohort].append(rollup)
    return dict(cohorts)


def share_p_value(failures: int, trials: int, null_share: float) -> float:
    """One-sided exact binomial test of failures among trials against a share that is still normal."""
    return float(binomtest(failures, trials, null_share, alternative="greater").pvalue)


MIN_LOG_SD = 0.1
"""Floor of the spread of a log ratio: no fewer pairs than it takes may look certain by chance."""

TRIM = 0.2
"""Share of pairs left out at either end: a cell in twenty behaves unlike the rest of its cohort (a graph in pieces)."""


def mean_p_value(log_ratios: list[float], null: float) -> float:
    """One-sided test that the trimmed mean of log ratios exceeds `null`, with a floor on their spread (Yuen 1974)."""
    count = len(log_ratios)
    cut = int(TRIM * count)
    kept = np.sort(log_ratios)[cut : count - cut]
    winsorised = np.clip(log_ratios, kept[0], kept[-1])
    sd = max(float(winsorised.std(ddof=1)) if count > 1 else 0.0, MIN_LOG_SD)
    return float(norm.sf((kept.mean() - null) / (sd / ((1 - 2 * cut / count) * count**0.5))))
