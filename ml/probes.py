"""Where devices that are sent out to measure go."""

from __future__ import annotations

from typing import Final

import numpy as np

from ml.explore import Budget, eligible_arms, likeliest_challenger
from ml.limits import Exclusion
from ml.rankings import Rankings
from ml.table import Index, Numbers
from ml.worth import UNHEARD_LEADER, most_worth

RECKONED: Final = 0.85
"""Share of the devices that go where a report is worth most. The others are drawn: what the posterior is sure of is now and
then wrong. Chosen by the adaptive protocol on releases 0.56.0 and 0.60.0 of AI Hub."""
TRICKLE: Final = 0.1
"""What the surest unit is worth measuring, as a share of the mean: sure units are now and then wrong."""


def probes(rankings: Rankings, count: int, rng: np.random.Generator) -> Index:
    """Rows for `count` devices that were sent out to measure: where a report is worth most, and drawn by what may be lost.

    Of a drawn unit the device measures its leader or the likeliest challenger, whichever is less certain; a leader that nobody
    has reported comes first. Beside the units stand the (model, arm) pairs that no class has reported: one report of
    them tells something about every class, so that what they may gain is summed over all.
    """
    reckoned = most_worth(rankings, round(RECKONED * count), rankings.excluded == Exclusion.NONE.value)
    rows, value = (np.concatenate(pair) for pair in zip(_by_unit(rankings), _by_new_pair(rankings), strict=True))
    value = np.bincount(rows, value, len(rankings.cells))
    value[reckoned] = 0.0
    drawn = rng.choice(len(value), count - len(reckoned), replace=False, p=value / value.sum())
    return np.concatenate([reckoned, drawn])


def _by_unit(rankings: Rankings) -> tuple[Index, Numbers]:
    """The row to measure in each unit, and what that is worth."""
    leader = rankings.leader
    unheard = rankings.reports[leader] == 0
    challenger = likeliest_challenger(rankings, eligible_arms(rankings, Budget.cost_cap))
    unsure = (challenger >= 0) & (rankings.sd[challenger] >= rankings.sd[leader])
    value = rankings.regret[leader] + UNHEARD_LEADER * unheard
    return np.where(unsure & ~unheard, challenger, leader), value + TRICKLE * value.mean()


def _by_new_pair(rankings: Rankings) -> tuple[Index, Numbers]:
    """For each (model, arm) pair without any report the row where it most likely leads; its worth over all units.

    The regret that a unit expects of its leader is shared out among the others by their chance to be the best.
    """
    cells, leader = rankings.cells, rankings.leader
    chance = np.where(rankings.excluded == Exclusion.NONE.value, rankings.best_probability, 0.0)
    chance[leader] = 0.0
    total = np.bincount(rankings.unit, chance)
    worth = chance * (rankings.regret[leader] / np.maximum(total, 1e-9))[rankings.unit]
    _, pair = np.unique(np.char.add(np.char.add(cells.model, "\n"), cells.arm), return_inverse=True)
    new = (np.bincount(pair, rankings.reports) == 0) & (np.bincount(pair, worth) > 0)
    order = np.lexsort((-worth, pair))
    first = order[np.flatnonzero(np.diff(pair[order], prepend=-1))]
    return first[new], np.bincount(pair, worth)[new]
