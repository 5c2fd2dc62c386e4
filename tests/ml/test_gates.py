"""A recommendation comes with what it would change, and with reasons where it should not go out."""

from __future__ import annotations

import numpy as np
import pytest

from ml.explore import Splits, explore
from ml.gate_evidence import GateLimits
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


def backwards(splits: Splits) -> Splits:
    """The last arm of every unit gets everything."""
    rankings = splits.rankings
    weights = np.zeros_like(splits.weight_bp)
    weights[rankings.order[rankings.starts[1:] - 1]] = 10_000
    return Splits(rankings, weights)


def test_the_same_weights_change_nothing_and_pass(splits: Splits) -> None:
    found = judge(splits, live_of(splits, slowest=False))
    assert found.expected is not None
    assert found.expected.log_change == pytest.approx(0.0)
    assert found.expected.regret_new == pytest.approx(found.expected.regret_live)
    assert (found.uses_changed, found.worse, found.changes, found.reasons) == (0.0, (), (), ())


def test_a_better_ranking_passes_and_says_by_how_much_it_is_better(splits: Splits) -> None:
    found = judge(splits, live_of(splits, slowest=True), logged(0.05))
    assert found.expected is not None
    low, high = found.expected.log_change_95
    assert low < found.expected.log_change < high < 0
    assert found.expected.regret_new < found.expected.regret_live
    assert found.expected.regret_change_95[1] < 0
    assert found.uses_changed is not None
    assert found.uses_changed > 0.5
    shown = found.to_json()
    assert shown["off_policy"]["estimates"]["dr"][2] < 0
    assert shown["passes"]
    assert [check["name"] for check in shown["checks"]] == ["expected-cost", "rankings-worse", "off-policy-cost"]


def test_exploring_under_the_same_leader_makes_no_unit_worse(splits: Splits) -> None:
    """What it costs is the budget's to bound; the expectation counts it."""
    live = {unit: {max(w, key=lambda arm: w[arm]): 10_000} for unit, w in live_of(splits, slowest=False).items()}
    found = judge(splits, live)
    assert found.expected is not None
    assert found.expected.log_change > 0
    assert found.worse == ()


def test_what_measured_uses_say_is_worse_closes_the_gate(splits: Splits) -> None:
    found = judge(splits, live_of(splits, slowest=False), logged(0.95))
    assert len(found.reasons) == 1
    assert "measured uses" in found.reasons[0]
    assert not found.to_json()["passes"]


def test_a_log_that_says_little_of_the_new_weights_closes_no_gate(splits: Splits) -> None:
    found = judge(splits, live_of(splits, slowest=False), logged(0.95), limits=GateLimits(min_effective=1e9))
    assert found.off_policy is not None
    assert found.reasons == ()


def test_units_that_get_worse_are_named_with_who_leads_them(splits: Splits) -> None:
    found = judge(backwards(splits), live_of(splits, slowest=False))
    factors = [change.factor for change in found.worse]
    assert factors == sorted(factors, reverse=True)
    assert factors[-1] > 1.05
    worst = found.worse[0]
    assert worst.leads != worst.would_lead
    assert worst.new_ms / worst.live_ms == pytest.approx(worst.factor)
    assert worst.factor_95[0] < worst.factor < worst.factor_95[1]
    assert [check.name for check in found.checks if not check.holds] == ["expected-cost", "rankings-worse"]


def test_a_unit_counts_as_much_as_it_is_used(splits: Splits) -> None:
    """Nobody uses the units that get worse: the gate stays open, and they are not compared."""
    rankings, live = splits.rankings, live_of(splits, slowest=False)
    names = list(live)
    bad = Splits(rankings, np.where(rankings.unit == 0, backwards(splits).weight_bp, splits.weight_bp))
    assert judge(bad, live, uses=dict.fromkeys(names, 1)).worse != ()
    found = judge(bad, live, uses=dict.fromkeys(names[1:], 1))
    assert (found.worse, found.reasons, found.rankings_compared) == ((), (), len(names) - 1)


def test_without_a_live_ranking_there_is_nothing_to_compare(splits: Splits) -> None:
    found = judge(splits, {})
    assert (found.rankings_compared, found.expected, found.reasons) == (0, None, ())
