"""A recommendation comes with what it would change, and with reasons where it should not go out."""

from __future__ import annotations

import numpy as np
import pytest

from ml.explore import Splits, explore
from ml.gates import Live, judge
from ml.offpolicy import Logged
from ml.recommend import recommend
from ml.table import Table


@pytest.fixture(scope="module")
def splits(some_aihub: Table) -> Splits:
    known = some_aihub.take(np.random.default_rng(0).random(len(some_aihub)) < 0.6)
    return explore(recommend(known, some_aihub, reports=np.full(len(known), 5)))


def live_of(splits: Splits, *, slowest: bool) -> Live:
    """A live release that serves what the new one does, or the slowest arm of every unit."""
    cells, rankings = splits.rankings.cells, splits.rankings
    live: dict[tuple[str, str], dict[str, int]] = {}
    for start, end in zip(rankings.starts[:-1].tolist(), rankings.starts[1:].tolist(), strict=True):
        rows = rankings.order[start:end]
        slow = rows[np.argmax(rankings.mean[rows])]
        weights = (
            {str(cells.arm[slow]): 10_000} if slowest else {str(cells.arm[r]): int(splits.weight_bp[r]) for r in rows}
        )
        live[str(cells.chipset[rows[0]]), str(cells.model[rows[0]])] = weights
    return live


def logged(new_weight_of_the_slow_arm: float) -> Logged:
    """Two arms, one twice as slow, served half and half; the new weights give the slow one so much."""
    rng = np.random.default_rng(1)
    slow = rng.random(4000) < 0.5
    cost = np.where(slow, np.log(2.0), 0.0)
    target = np.where(slow, new_weight_of_the_slow_arm, 1 - new_weight_of_the_slow_arm)
    expected = np.full(4000, new_weight_of_the_slow_arm * np.log(2.0))
    return Logged(cost + 0.05 * rng.standard_normal(4000), np.full(4000, 0.5), target, cost, expected)


def test_the_same_weights_change_nothing_and_pass(splits: Splits) -> None:
    found = judge(splits, live_of(splits, slowest=False))
    assert found.figures["log_change"] == pytest.approx(0.0)
    assert (found.figures["leader_changes"], found.figures["worse"], found.reasons) == (0.0, [], ())


def test_a_better_ranking_passes_and_says_by_how_much_it_is_better(splits: Splits) -> None:
    found = judge(splits, live_of(splits, slowest=True), logged(0.05))
    low, high = found.figures["log_change_95"]
    assert low < found.figures["log_change"] < high < 0
    assert found.figures["leader_changes"] > 0.5
    assert found.figures["off_policy"]["estimates"]["dr"][2] < 0
    assert found.to_json()["passes"]


def test_what_measured_uses_say_is_worse_closes_the_gate(splits: Splits) -> None:
    found = judge(splits, live_of(splits, slowest=False), logged(0.95))
    assert len(found.reasons) == 1
    assert "measured uses" in found.reasons[0]
    assert not found.to_json()["passes"]


def test_units_that_get_worse_are_named(splits: Splits) -> None:
    rankings = splits.rankings
    backwards = np.zeros_like(splits.weight_bp)
    last = rankings.order[rankings.starts[1:] - 1]
    backwards[last] = 10_000
    found = judge(Splits(rankings, backwards), live_of(splits, slowest=False))
    assert found.figures["worse"][0]["factor"] == max(row["factor"] for row in found.figures["worse"]) > 1.05
    assert "expectation" in found.reasons[0]


def test_without_a_live_ranking_there_is_nothing_to_compare(splits: Splits) -> None:
    found = judge(splits, {})
    assert (found.figures["units_compared"], found.reasons) == (0, ())
