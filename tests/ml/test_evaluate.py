"""The evaluation: no method sees an answer, regret is what it says, and the learner beats simple rules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ml.adaptive import play
from ml.adaptive_policies import POLICIES
from ml.baselines import BASELINES
from ml.evaluate import METHOD, PROTOCOLS, Learner, UnknownProtocolError, document, run
from ml.intervals import calibrate, precision_kind
from ml.latency import LatencyModel
from ml.metrics import choose
from ml.protocols import SPLITS, Question, lab_phones
from ml.table import Table


def answers_of(question: Question) -> set[tuple[str, str, str]]:
    return {(c, m, a) for c, m, a in zip(*(column.tolist() for column in key_columns(question.cells)), strict=True)}


def key_columns(table: Table) -> tuple[np.ndarray, ...]:
    return table.chipset, table.model, table.arm


@pytest.mark.parametrize("protocol", sorted(SPLITS))
def test_cells_carry_no_latency_and_unobserved_ones_are_in_no_training_row(some_aihub: Table, protocol: str) -> None:
    for trial in SPLITS[protocol](some_aihub, 0):
        question = trial.question
        assert np.isnan(question.cells.latency_ms).all()
        asked = answers_of(replace(question, cells=question.cells.take(~question.observed)))
        for known in (question.base, question.extra):
            assert not asked & set(zip(*(column.tolist() for column in key_columns(known)), strict=True))


@pytest.mark.parametrize("protocol", sorted(SPLITS))
def test_poisoned_answers_change_no_score(some_aihub: Table, protocol: str) -> None:
    """Latencies that a question does not show are spoilt; every method must score as before."""
    trial = list(SPLITS[protocol](some_aihub, 0))[2]
    hidden_cells = answers_of(replace(trial.question, cells=trial.question.cells.take(~trial.question.observed)))
    keys = zip(*(column.tolist() for column in key_columns(some_aihub)), strict=True)
    spoilt = np.array([key in hidden_cells for key in keys])
    poisoned = replace(some_aihub, latency_ms=np.where(spoilt, some_aihub.latency_ms * 1e5, some_aihub.latency_ms))
    again = list(SPLITS[protocol](poisoned, 0))[2]
    assert not np.array_equal(trial.answer.log_ms, again.answer.log_ms)
    assert np.array_equal(Learner().predict(trial.question)[0], Learner().predict(again.question)[0])
    for baseline in BASELINES.values():
        assert np.array_equal(baseline(trial.question), baseline(again.question))


def test_a_held_out_chipset_and_a_held_out_family_leave_no_sibling(some_aihub: Table) -> None:
    for trial in SPLITS["unseen-chipset"](some_aihub, 0):
        assert not set(trial.question.base.chipset) & set(trial.question.cells.chipset)
    for trial in SPLITS["unseen-model"](some_aihub, 0):
        assert not set(trial.question.base.text["family"]) & set(trial.question.cells.text["family"])


def test_probes_and_lab_phones_are_as_many_as_the_setting_says(some_aihub: Table) -> None:
    for trial in SPLITS["unseen-chipset"](some_aihub, 0):
        assert len(trial.question.extra) == int(trial.setting.split()[0])
    phones = lab_phones(some_aihub, 3)
    for trial in SPLITS["unseen-model"](some_aihub, 0):
        allowed = phones[: int(trial.setting.split()[0])]
        assert set(trial.question.extra.chipset) <= set(allowed)


@given(st.integers(0, 1000))
def test_regret_is_at_least_one_and_one_for_the_truth(some_aihub: Table, seed: int) -> None:
    unit, everyone = some_aihub.units(), np.ones(len(some_aihub), dtype=np.bool_)
    guess = np.random.default_rng(seed).random(len(some_aihub))
    assert (choose(some_aihub.log_ms, guess, unit, everyone).regret >= 1).all()
    assert np.allclose(choose(some_aihub.log_ms, some_aihub.log_ms, unit, everyone).regret, 1.0)


@pytest.mark.parametrize("protocol", ["unseen-chipset", "sparse"])
def test_the_learner_beats_every_simple_rule_on_measured_data(some_aihub: Table, protocol: str) -> None:
    few = some_aihub.take(np.isin(some_aihub.chipset, np.unique(some_aihub.chipset)[1:5]))
    rows = run(few, protocol, 1)
    setting = rows[-1].setting
    regret = {row.method: row.mean for row in rows if row.setting == setting}
    assert set(regret) == {METHOD, *BASELINES}
    rules = ["random", "always float", "always int8", "best arm on average"]
    assert regret[METHOD] < min(regret[name] for name in rules)


def test_rows_are_the_documents_rows(some_aihub: Table) -> None:
    said: list[str] = []
    rows = run(some_aihub, "sparse", 2, said.append)
    content = document(rows)["rows"]
    needed = {"protocol", "setting", "method", "seeds", "mean", "p95", "top1", "within_1_1", "over_2"}
    assert all(needed <= set(row) for row in content)
    assert {row["setting"] for row in content} == {"5 %", "10 %", "20 %"}
    assert {row["seeds"] for row in content} == {2}
    assert len(said) == 6
    ours = [row for row in content if row["method"] == METHOD]
    assert all(0.6 < row["interval_80"] <= row["interval_95"] <= 1 for row in ours)


def test_learning_while_serving_ends_better_than_without_a_model(some_aihub: Table) -> None:
    rows = {(row.setting, row.method): row for row in run(some_aihub, "adaptive", 1)}
    settings = {setting for setting, _ in rows}
    assert settings == {"1.2 reports a unit", "2.4 reports a unit"}
    for setting in settings:
        ours, others = rows[setting, METHOD], [rows[setting, name] for name in POLICIES if name != METHOD]
        assert len(others) == 4
        assert ours.within_1_1 > max(other.within_1_1 for other in others)
        assert (ours.cumulative_excess or 0) < (rows[setting, "no model"].cumulative_excess or 0)


def test_a_played_fleet_is_the_same_for_the_same_seed_and_its_cost_never_falls(some_aihub: Table) -> None:
    first, again = (list(play(some_aihub, POLICIES["no model"], 3, 6)) for _ in range(2))
    costs = [after.cost for after in first]
    assert costs == sorted(costs)
    assert costs[0] == 0.0
    assert all(np.array_equal(a.choices.chosen_ms, b.choices.chosen_ms) for a, b in zip(first, again, strict=True))


def test_an_unknown_protocol_is_refused_with_those_there_are(some_aihub: Table) -> None:
    with pytest.raises(UnknownProtocolError, match=", ".join(PROTOCOLS)):
        run(some_aihub, "dense")


def test_a_table_without_a_choice_is_refused() -> None:
    table = Table.of({"chipset": ["a"], "model": ["m"], "arm": ["x.tflite.q"], "latency_ms": [1.0]})
    with pytest.raises(ValueError, match="nothing to choose"):
        run(table, "sparse")


def test_a_table_of_four_columns_can_be_judged(some_aihub: Table) -> None:
    bare = Table(*key_columns(some_aihub), some_aihub.latency_ms)
    assert {row.method for row in run(bare, "sparse", 1)} == {METHOD, *BASELINES}


def test_intervals_hold_what_they_say_on_rows_they_never_saw(aihub: Table) -> None:
    some = aihub.take(np.arange(len(aihub)) % 6 == 0)
    held = np.random.default_rng(1).random(len(some)) < 0.3
    known, asked = some.take(~held), some.take(held)
    model = LatencyModel(n_inducing=300)
    [intervals] = calibrate(model, known, np.arange(len(known)))
    mean, sd = model.fit(known, universe=asked).predict(asked, return_std=True)
    for level in (0.8, 0.95):
        inside = np.abs(asked.log_ms - mean) <= intervals.half_width(asked, sd, level)
        assert inside.mean() == pytest.approx(level, abs=0.05)


def test_kinds_of_precision_are_told_apart() -> None:
    arms = ["fp32.a.b", "int8.a.b", "int8-dynamic.a.b", "int16x8.a.b", "mixed-int16.a.b", "int16x8-mixed.a.b"]
    table = Table.of({"chipset": ["c"] * 6, "model": ["m"] * 6, "arm": arms})
    assert precision_kind(table).tolist() == ["float", "int8", "int8", "int16", "mixed", "mixed"]


def test_few_groups_are_held_out_one_by_one(some_aihub: Table) -> None:
    five = some_aihub.take(np.isin(some_aihub.chipset, np.unique(some_aihub.chipset)[:5]))
    chipset = np.unique(five.chipset, return_inverse=True)[1]
    model = LatencyModel(n_inducing=80)
    [two_folds], [five_folds] = (calibrate(model, five, chipset, folds=folds) for folds in (2, 5))
    assert np.array_equal(two_folds.scores[""], five_folds.scores[""])
