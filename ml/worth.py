"""What one more report of a cell is worth: how much lower the leaders of its model's units are expected to come.

The knowledge gradient of Frazier, Powell & Dayanik (2009), added up over units. A report of one arm on one device class
moves what is expected of that model's other arms and classes too, by their joint covariance; it pays where it may change a
leader.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heapreplace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from ml.fleet_posterior import CLASS_VARIANCE, REPORT_VARIANCE
from ml.limits import Exclusion
from ml.posterior import Stack
from ml.rankings import Rankings
from ml.table import Index, Numbers

NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
CHANCES: Final = _WEIGHTS / _WEIGHTS.sum()
"""What a report may say, in standard deviations of what is expected, and how likely (Gauss–Hermite quadrature)."""

TOLD_VARIANCE: Final = REPORT_VARIANCE + CLASS_VARIANCE
"""How far one report may be from the truth of its class."""

UNHEARD_LEADER: Final = 0.05
"""Log cost to gain, beyond what the posterior says, from a leader that nobody has reported: it may be wrong altogether."""

NOT_ALLOWED: Final = 1e3
"""Log cost of an arm that may not be served: never the least."""

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Prospect:
    """Cells of one model, those of a unit side by side, and what is doubted of them.

    `rows` (n,) among the candidates, `score` (n,) the log cost by which arms are ordered, `covariance` (n, n) of log
    latency, `starts` (units,) and `leaders` (units,) as places among the n, `served` (units,) whether any arm may be, and
    `unheard` (n,) leaders without a report.
    """

    rows: Index
    score: Numbers
    covariance: Stack
    starts: Index
    leaders: Index
    served: Marks
    unheard: Marks

    def gain(self) -> Numbers:
        """Expected fall of the leading log cost by one more report of each cell, added up over units (n,)."""
        told = np.sqrt(np.diag(self.covariance) + TOLD_VARIANCE)
        step = self.covariance / told[:, None]
        gain: Numbers = np.where(self.unheard, UNHEARD_LEADER, 0.0)
        for node, chance in zip(NODES.tolist(), CHANCES.tolist(), strict=True):
            moved = self.score + node * step
            fall = moved[:, self.leaders] - np.minimum.reduceat(moved, self.starts, axis=1)
            gain = gain + chance * (fall @ self.served)
        return gain

    def told(self, cells: Index) -> Prospect:
        """What is still doubted once these cells (places among the n) have been reported, whatever the reports say."""
        columns = self.covariance[:, cells]
        among = columns[cells] + TOLD_VARIANCE * np.eye(len(cells))
        unheard = self.unheard.copy()
        unheard[cells] = False
        return replace(
            self, covariance=self.covariance - columns @ solve(among, columns.T, assume_a="pos"), unheard=unheard
        )


def worth(rankings: Rankings) -> Numbers:
    """Gain from one more report of each candidate cell (log cost, over all units of its model), beside what the leaders'
    own traffic will tell.
    """
    gains = np.zeros(len(rankings.cells))
    for prospect in prospects(rankings):
        gains[prospect.rows] = prospect.told(prospect.leaders).gain()
    return gains


def most_worth(rankings: Rankings, count: int, among: Marks) -> Index:
    """Rows for (at most) `count` reports, each of another of the cells marked (n,), chosen one by one: what those before
    will tell is known.
    """
    known = list(prospects(rankings))
    open_to = [among[one.rows] for one in known]
    heap = [_best(one, mask, number) for number, (one, mask) in enumerate(zip(known, open_to, strict=True))]
    heapify(heap)
    chosen: list[int] = []
    while heap and len(chosen) < count:
        loss, number, cell = heap[0]
        if loss >= 0:
            heappop(heap)
            continue
        chosen.append(int(known[number].rows[cell]))
        open_to[number][cell] = False
        known[number] = known[number].told(np.array([cell]))
        heapreplace(heap, _best(known[number], open_to[number], number))
    return np.array(chosen, dtype=np.intp)


def prospects(rankings: Rankings) -> Iterator[Prospect]:
    """Every model's cells, as far as the posterior doubts them together."""
    allowed = rankings.excluded == Exclusion.NONE.value
    score = np.where(allowed, np.log(rankings.cost_ms) + rankings.caution, NOT_ALLOWED)
    leads = np.zeros(len(score), np.bool_)
    leads[rankings.leader] = True
    for joint in rankings.joints():
        order = np.argsort(rankings.unit[joint.rows], kind="stable")
        rows = joint.rows[order]
        yield Prospect(
            rows,
            score[rows],
            joint.covariance[np.ix_(order, order)],
            np.flatnonzero(np.diff(rankings.unit[rows], prepend=-1)),
            np.flatnonzero(leads[rows]),
            allowed[rows][leads[rows]],
            (leads & allowed & (rankings.reports == 0))[rows],
        )


def _best(prospect: Prospect, open_to: Marks, number: int) -> tuple[float, int, int]:
    gain = np.where(open_to, prospect.gain(), 0.0)
    cell = int(gain.argmax())
    return -float(gain[cell]), number, cell
