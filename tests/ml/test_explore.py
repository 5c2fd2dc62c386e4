"""Weights: exact, within budget, on arms that may be tried, where knowing more can pay (R-E3)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ml.explore import FULL_BP, Budget, eligible_arms, explore, explore_evenly
from ml.limits import CellFacts, Exclusion
from ml.probes import probes
from ml.rankings import Rankings
from ml.recommend import recommend
from ml.table import Table


@pytest.fixture(scope="module")
def rankings(some_aihub: Table) -> Rankings:
    seen = np.random.default_rng(0).random(len(some_aihub)) < 0.25
    bad = np.where(some_aihub.arm == some_aihub.arm[0], 0.5, 0.0)
    facts = CellFacts({"accuracy_drop": bad, "max_accuracy_drop": np.full(len(some_aihub), 0.01)})
    known = some_aihub.take(seen)
    return recommend(known, some_aihub, reports=np.full(len(known), 2), facts=facts)


budgets = st.builds(
    Budget,
    mean_bp=st.integers(0, 3000),
    max_bp=st.integers(0, FULL_BP),
    trickle_bp=st.integers(0, 300),
    cost_cap=st.floats(1, 10),
)


@given(budget=budgets)
@settings(max_examples=30, deadline=None)
def test_weights_add_up_to_all_traffic_and_never_go_to_what_is_excluded(rankings: Rankings, budget: Budget) -> None:
    weights = explore(rankings, budget).weight_bp
    allowed = rankings.excluded == Exclusion.NONE.value
    served = np.bincount(rankings.unit, allowed) > 0
    assert np.array_equal(np.bincount(rankings.unit, weights), np.where(served, FULL_BP, 0))
    assert (weights >= 0).all()
    assert not weights[~allowed].any()


@given(budget=budgets)
@settings(max_examples=30, deadline=None)
def test_no_unit_explores_more_than_its_maximum_nor_all_more_than_the_budget(
    rankings: Rankings, budget: Budget
) -> None:
    explored = FULL_BP - explore(rankings, budget).weight_bp[rankings.leader]
    explored = explored[rankings.excluded[rankings.leader] == Exclusion.NONE.value]
    assert (explored <= budget.max_bp).all()
    assert explored.mean() <= max(budget.mean_bp, budget.trickle_bp) + 1


def test_exploring_evenly_gives_every_other_allowed_arm_the_same_share(rankings: Rankings) -> None:
    weights = explore_evenly(rankings, Budget(mean_bp=400)).weight_bp
    for start, end in zip(rankings.starts[:-1], rankings.starts[1:], strict=True):
        rows = rankings.order[start:end]
        rows = rows[rankings.excluded[rows] == Exclusion.NONE.value]
        assert weights[rows].sum() in {0, FULL_BP}
        if len(rows) > 1:
            assert weights[rows[1:]].sum() == 400
            assert np.ptp(weights[rows[1:]]) <= 1


def test_traffic_weighs_in_the_budget(rankings: Rankings) -> None:
    traffic = np.random.default_rng(0).pareto(1.2, len(rankings)) + 0.01
    explored = FULL_BP - explore(rankings, Budget(mean_bp=300), traffic).weight_bp[rankings.leader]
    assert np.average(explored, weights=traffic) <= 301


def test_units_whose_leader_may_be_wrong_explore_more(rankings: Rankings) -> None:
    explored = FULL_BP - explore(rankings, Budget(mean_bp=300, max_bp=FULL_BP)).weight_bp[rankings.leader]
    regret = rankings.regret[rankings.leader]
    doubtful = regret > np.quantile(regret, 0.8)
    assert explored[doubtful].mean() > 2 * explored[~doubtful].mean()


def test_an_arm_predicted_far_worse_is_not_tried(rankings: Rankings) -> None:
    weights = explore(rankings, Budget(cost_cap=2.0)).weight_bp
    leader_cost = rankings.cost_ms[rankings.leader[rankings.unit]]
    hopeless = rankings.cost_ms * np.exp(-2 * rankings.sd) > 2 * leader_cost
    assert hopeless.any()
    assert not weights[hopeless].any()


def test_where_nothing_is_known_every_allowed_arm_may_be_tried() -> None:
    cells = Table.of({"chipset": ["c"] * 3, "model": ["m"] * 3, "arm": ["a.tflite.x", "b.tflite.y", "d.tflite.z"]})
    nothing = cells.take(np.zeros(0, dtype=np.intp))
    rankings = recommend(nothing, cells, reports=np.zeros(0, dtype=np.intp))
    assert eligible_arms(rankings, 2.0).sum() == 2


def test_the_leader_comes_first_in_a_split_and_is_not_marked_as_exploring(rankings: Rankings) -> None:
    splits = list(explore(rankings))
    by_unit = {(r.device_class, r.model): r.arms[0].arm for r in rankings if r.arms}
    assert len(splits) == len(by_unit)
    for split in splits:
        assert split.weights[0].arm == by_unit[split.device_class, split.model]
        assert not split.weights[0].explore
        assert all(weight.explore for weight in split.weights[1:])
        assert sum(weight.weight_bp for weight in split.weights) == FULL_BP


def test_no_unit_gives_no_split(rankings: Rankings) -> None:
    empty = rankings.cells.take(np.zeros(0, dtype=np.intp))
    assert list(explore(recommend(empty, empty, reports=np.zeros(0, dtype=np.intp)))) == []


def test_explorers_are_sent_to_leaders_nobody_reported_and_to_pairs_nobody_tried(rankings: Rankings) -> None:
    rng, leader = np.random.default_rng(0), rankings.leader
    sent = np.concatenate([probes(rankings, 20, rng) for _ in range(200)])
    count = np.bincount(sent, minlength=len(rankings.cells))
    unheard = rankings.reports[leader] == 0
    assert count[leader[unheard]].mean() > 3 * count[leader[~unheard]].mean()
    pair = np.unique(np.char.add(rankings.cells.model, rankings.cells.arm), return_inverse=True)[1]
    new = np.bincount(pair, rankings.reports) == 0
    others = np.ones(len(rankings.cells), dtype=np.bool_)
    others[leader] = False
    assert count[others & new[pair]].mean() > 3 * count[others & ~new[pair]].mean()


def test_explorers_never_run_what_is_excluded(rankings: Rankings) -> None:
    sent = probes(rankings, len(rankings) // 2, np.random.default_rng(0))
    served = rankings.excluded[rankings.leader] == Exclusion.NONE.value
    assert (rankings.excluded[sent] == Exclusion.NONE.value)[served[rankings.unit[sent]]].all()
