"""Rankings: what is known leads, what breaks a limit is out with its reason, what nobody measured is treated with care."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ml.caution import MIN_UNITS, RISKY_LOG_COST, UNPROVEN_LOG_COST, caution
from ml.coverage_prior import coverage_log_cost, main
from ml.limits import CellFacts, Exclusion, Limits, exclusions, wilson_lower
from ml.posterior import Posterior, UnitGroup
from ml.rankings import Rankings
from ml.recommend import ranked, recommend
from ml.table import Numbers, Table, concatenate

ARMS = ("fp32.tflite.cpu", "fp16.tflite.gpu", "int8.tflite.nnapi.google-edgetpu", "int8.tflite.cpu")


def make_fleet(classes: int = 6, models: int = 4, log_costs: tuple[float, ...] = (2.0, 1.0, 0.0, 1.5)) -> Table:
    """Every cell of a small fleet whose NPU is fastest everywhere."""
    chip, name, arm = (grid.ravel() for grid in np.meshgrid(range(classes), range(models), range(4), indexing="ij"))
    level = 0.2 * chip + 0.5 * name + np.array(log_costs)[arm]
    return Table.of(
        {
            "chipset": [f"class{n}" for n in chip],
            "model": [f"model{n}" for n in name],
            "arm": [ARMS[n] for n in arm],
            "latency_ms": np.exp(level),
            "family": [f"f{n % 2}" for n in name],
            "chip_year": 2018.0 + chip,
        }
    )


def rank(measured: Table, cells: Table, reports: int = 5, **facts: list[float]) -> Rankings:
    columns = {name: np.asarray(column, dtype=np.float64) for name, column in facts.items()}
    return recommend(measured, cells, reports=np.full(len(measured), reports), facts=CellFacts(columns))


def none_of(table: Table) -> Table:
    return table.take(np.zeros(0, dtype=np.intp))


def constant(cells: Table, value: float, arm: str = "", other: float = np.nan) -> list[float]:
    return [value if arm in {"", name} else other for name in cells.arm.tolist()]


def test_a_measured_fleet_is_ranked_by_what_was_measured() -> None:
    fleet = make_fleet()
    for ranking in rank(fleet, fleet):
        assert [arm.arm for arm in ranking.arms] == [ARMS[2], ARMS[1], ARMS[3], ARMS[0]]
        assert ranking.arms[0].best_probability > 0.99
        assert ranking.measured


def test_a_new_class_inherits_the_order_of_those_like_it() -> None:
    fleet = make_fleet()
    known = fleet.take(fleet.chipset != "class3")
    leaders = [ranking.arms[0] for ranking in rank(known, fleet) if ranking.device_class == "class3"]
    assert {arm.arm for arm in leaders} == {ARMS[2]}
    assert {arm.reports for arm in leaders} == {0}


def test_an_arm_over_the_accuracy_budget_is_out_with_that_reason() -> None:
    fleet = make_fleet()
    found = rank(
        fleet,
        fleet,
        accuracy_drop=constant(fleet, 0.05, ARMS[2]),
        max_accuracy_drop=constant(fleet, 0.01),
    )
    for ranking in found:
        assert [(arm.arm, arm.excluded) for arm in ranking.excluded] == [(ARMS[2], Exclusion.ACCURACY)]
        assert ranking.arms[0].arm == ARMS[1]
        assert sum(arm.best_probability for arm in ranking.arms) == pytest.approx(1.0)


def test_an_unknown_accuracy_is_no_reason_to_put_an_arm_out() -> None:
    fleet = make_fleet(2, 2)
    assert all(not ranking.excluded for ranking in rank(fleet, fleet, max_accuracy_drop=constant(fleet, 0.01)))


def test_golden_failures_and_errors_put_an_arm_out_only_when_there_are_several() -> None:
    facts = CellFacts(
        {
            "golden_checks": np.array([10.0, 10.0, 0.0, 0.0, np.nan]),
            "golden_failures": np.array([1.0, 9.0, 0.0, 0.0, np.nan]),
            "runs": np.array([500.0, 500.0, 500.0, 500.0, np.nan]),
            "errors": np.array([0.0, 0.0, 2.0, 60.0, np.nan]),
        }
    )
    assert exclusions(facts, 5, Limits()).tolist() == ["", "golden_check_fails", "", "error_rate_over_limit", ""]


def test_an_output_that_is_no_number_puts_an_arm_out_at_once_and_a_stray_one_among_many_does_not() -> None:
    facts = CellFacts(
        {"non_finite": np.array([0.0, 1.0, 1.0, 3.0, np.nan]), "checked": np.array([9.0, 1.0, 100.0, 9.0, 9.0])}
    )
    assert exclusions(facts, 5, Limits()).tolist() == ["", "output_not_finite", "", "output_not_finite", ""]


def test_an_arm_too_fast_to_be_believed_gets_no_traffic_until_a_check_vouches_for_it() -> None:
    facts = CellFacts({"unbelieved": np.array([0.0, 2.0, 3.0, np.nan])})
    assert exclusions(facts, 4, Limits()).tolist() == ["", "", "too_fast_and_unchecked", ""]


def test_an_arm_that_takes_more_memory_than_the_app_can_spare_is_out_and_one_that_told_nothing_is_not() -> None:
    facts = CellFacts(
        {"memory_mb": np.array([90.0, 110.0, np.nan, 110.0]), "max_memory_mb": np.array([100.0, 100.0, 100.0, np.nan])}
    )
    assert exclusions(facts, 4, Limits()).tolist() == ["", "memory_over_limit", "", ""]


@given(trials=st.integers(1, 1000), share=st.floats(0, 1))
def test_a_lower_bound_lies_between_zero_and_the_share(trials: int, share: float) -> None:
    failures = float(int(share * trials))
    bound = wilson_lower(np.array([failures]), np.array([float(trials)]))[0]
    assert -1e-12 <= bound <= failures / trials + 1e-12


def test_start_up_and_errors_are_part_of_the_cost() -> None:
    fleet = make_fleet(3, 3)
    plain = rank(fleet, fleet)
    slow = rank(fleet, fleet, startup_ms=constant(fleet, 1000.0, ARMS[2], 0.0), runs=constant(fleet, 1000.0))
    assert next(iter(plain)).arms[0].arm == ARMS[2]
    assert next(iter(slow)).arms[-1].arm == ARMS[2]


def test_a_guess_that_may_not_run_at_all_does_not_take_the_lead_from_a_measured_arm() -> None:
    fleet = make_fleet(6, 4, (2.0, 0.6, 0.0, 1.5))
    npu, tried = fleet.arm == ARMS[2], fleet.chipset != "class5"
    failing = npu & tried & np.isin(fleet.model, ["model1", "model2"])

    def leaders(errors: Numbers) -> set[str]:
        found = rank(fleet.take(tried | ~npu), fleet, runs=(5.0 * tried).tolist(), errors=errors.tolist())
        return {ranking.arms[0].arm for ranking in found if ranking.device_class == "class5"}

    assert leaders(0.0 * failing) == {ARMS[2]}
    assert leaders(5.0 * failing) == {ARMS[1]}


def test_the_chance_to_meet_a_target_falls_with_latency_and_is_unknown_without_one() -> None:
    fleet = make_fleet(3, 3)
    with_target = next(iter(rank(fleet, fleet, target_ms=constant(fleet, 3.0))))
    chances = [arm.target_probability for arm in with_target.arms]
    assert chances == sorted(chances, reverse=True)
    assert np.isnan(next(iter(rank(fleet, fleet))).arms[0].target_probability)


def test_with_no_observation_at_all_every_arm_is_still_ranked() -> None:
    fleet = make_fleet(2, 2)
    rankings = list(rank(none_of(fleet), fleet))
    assert [len(ranking.arms) for ranking in rankings] == [4] * 4
    assert not any(ranking.measured for ranking in rankings)


def now_and_then_a_disaster(fleet: Table, arm: str) -> Table:
    """The same fleet, one in seven of the arm's cells a fall-back."""
    latency = fleet.latency_ms.copy()
    latency[np.flatnonzero(fleet.arm == arm)[::7]] *= 20
    return replace(fleet, latency_ms=latency)


def test_for_a_model_nobody_measured_an_arm_that_was_a_disaster_elsewhere_does_not_lead() -> None:
    fleet = now_and_then_a_disaster(make_fleet(12, 6, (0.8, 0.45, 0.0, 0.7)), ARMS[2])
    known = fleet.take(fleet.model != "model5")
    new = [ranking for ranking in rank(known, fleet) if ranking.model == "model5"]
    assert new
    for ranking in new:
        assert ranking.arms[0].arm != ARMS[2]


def test_caution_asks_more_of_risky_arms_and_of_unproven_ones_and_nothing_where_a_model_is_measured() -> None:
    fleet = now_and_then_a_disaster(make_fleet(12, 6, (0.8, 0.45, 0.0, 0.7)), ARMS[2])
    seldom = (fleet.arm != ARMS[3]) | (np.arange(len(fleet)) < 4 * (MIN_UNITS - 1))
    known = fleet.take((fleet.model != "model5") & seldom)
    asked = caution(known, fleet, np.zeros(len(fleet)))
    new = fleet.model == "model5"
    assert not asked[~new].any()
    by_arm = {arm: set(asked[new & (fleet.arm == arm)].tolist()) for arm in ARMS}
    assert by_arm[ARMS[1]] == {0.0}
    assert by_arm[ARMS[2]] == {RISKY_LOG_COST}
    assert by_arm[ARMS[3]] == {UNPROVEN_LOG_COST}


CLOSE = (0.8, 0.45, 0.2, 0.7)


def in_pieces(cells: Table, arm: str, *, cuts: float = 5, share: float = 0.8) -> Rankings:
    """Nobody has measured the arm on class3, where its graph would be cut."""
    known = cells.take((cells.chipset != "class3") | (cells.arm != arm))
    there = (cells.chipset == "class3") & (cells.arm == arm)
    facts = {"cuts": np.where(there, cuts, 0.0).tolist(), "delegated_share": np.where(there, share, 1.0).tolist()}
    return rank(known, cells, **facts)


def leaders(rankings: Rankings, device_class: str) -> set[str]:
    return {ranking.arms[0].arm for ranking in rankings if ranking.device_class == device_class}


def test_a_graph_in_pieces_that_nobody_measured_needs_a_clear_win() -> None:
    """LN-11: 20 → 10 views a second. The next best arm takes 1.3 × as long, which is no clear win; 2.5 × is one."""
    close, clear = make_fleet(log_costs=CLOSE), make_fleet(log_costs=(1.3, 1.1, 0.2, 1.2))
    assert leaders(in_pieces(close, ARMS[2]), "class3") == {ARMS[1]}
    assert leaders(in_pieces(close, ARMS[2]), "class2") == {ARMS[2]}
    assert leaders(in_pieces(clear, ARMS[2]), "class3") == {ARMS[2]}


def test_a_graph_with_its_ends_on_the_cpu_or_hardly_any_of_it_is_not_in_pieces() -> None:
    close = make_fleet(log_costs=CLOSE)
    assert leaders(in_pieces(close, ARMS[2], cuts=2), "class3") == {ARMS[2]}
    assert leaders(in_pieces(close, ARMS[2], share=0.97), "class3") == {ARMS[2]}
    assert leaders(in_pieces(close, ARMS[2], share=np.nan), "class3") == {ARMS[2]}


def test_one_report_of_its_own_and_a_graph_in_pieces_is_judged_like_any_other() -> None:
    close = make_fleet(log_costs=CLOSE)
    facts = {"cuts": constant(close, 5.0), "delegated_share": constant(close, 0.8)}
    assert leaders(rank(close, close, reports=1, **facts), "class3") == {ARMS[2]}


def test_of_two_arms_expected_to_take_as_long_the_surer_one_leads() -> None:
    fleet = make_fleet(1, 1)
    sd = np.where(fleet.arm == ARMS[2], 0.1, 0.6)
    posterior = Posterior(np.zeros(len(fleet)), sd, (UnitGroup(np.arange(len(fleet))[None], np.diag(sd**2)[None]),))
    rankings = ranked(posterior, fleet, fleet, np.ones(len(fleet), dtype=np.intp))
    assert fleet.arm[rankings.leader].tolist() == [ARMS[2]]


def test_populations_that_share_nothing_do_not_touch_each_other() -> None:
    one, other = make_fleet(4, 3), make_fleet(3, 2)
    other = replace(other, chipset=np.char.add(other.chipset, "x"), model=np.char.add(other.model, "x"))
    alone = rank(one, one).mean
    both = rank(concatenate(one, other), concatenate(one, other)).mean
    assert np.allclose(alone, both[: len(one)], atol=1e-9)


def test_the_order_of_observations_does_not_matter() -> None:
    fleet = make_fleet()
    order = np.random.default_rng(1).permutation(len(fleet))
    assert np.allclose(rank(fleet, fleet).mean, rank(fleet.take(order), fleet).mean, atol=1e-9)


def test_lengths_that_do_not_match_are_refused() -> None:
    fleet = make_fleet(2, 2)
    with pytest.raises(ValueError, match="lengths differ"):
        recommend(fleet, fleet, reports=np.ones(3, dtype=np.intp))


def test_partial_coverage_costs_before_anything_is_measured() -> None:
    cost = coverage_log_cost(np.array([1.0, 0.97, 0.92, 0.75, 0.1, np.nan]))
    assert (np.diff(cost[:5]) >= 0).all()
    assert (cost[0], cost[5]) == (0.0, 0.0)


def test_the_command_tells_what_partly_delegated_cells_came_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(
        "chipset,model,arm,latency_ms,coverage\n"
        "a,m,int8.tflite.x,3,1\na,m,fp16.tflite.x,3,1\na,m,fp32.tflite.x,9,0.92\nb,m,int8.tflite.x,1,0.5\nb,m,fp16.tflite.x,1,0.5\n"
    )
    assert main([str(tmp_path / "t.csv")]) == 0
    assert capsys.readouterr().out == "0.90 to 0.95: 3.00 × in the median of 1 cells\n"
    assert main([str(tmp_path / "none.csv")]) == 1
