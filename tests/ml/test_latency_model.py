"""The estimator: conventions, laws, and what it does with what it has never seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ml.coverage_prior import coverage_log_cost
from ml.kernels import TERMS, Covariance, Space
from ml.latency import LatencyModel
from ml.refit import Evidence, refit
from ml.table import Table, concatenate
from ml.variances import FROZEN

SMALL = {"n_inducing": 80}


def fit(table: Table, **parameters: int) -> LatencyModel:
    return LatencyModel(**{**SMALL, **parameters}).fit(table)


def make_cell(chipset: str, model: str, arm: str, latency_ms: float = 1.0) -> Table:
    return Table.of({"chipset": [chipset], "model": [model], "arm": [arm], "latency_ms": [latency_ms]})


def test_init_only_stores_and_clones_start_unfitted(some_aihub: Table) -> None:
    model = LatencyModel(n_inducing=77, noise_sd=0.1)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(some_aihub)


def test_two_fits_of_the_same_rows_predict_the_same(some_aihub: Table) -> None:
    assert np.array_equal(fit(some_aihub).predict(some_aihub), fit(some_aihub).predict(some_aihub))


def test_the_order_of_rows_does_not_matter(some_aihub: Table) -> None:
    order = np.random.default_rng(0).permutation(len(some_aihub))
    kept = np.arange(len(some_aihub)) % 3 > 0
    shuffled = some_aihub.take(order[kept[order]])
    assert np.allclose(fit(some_aihub.take(kept)).predict(some_aihub), fit(shuffled).predict(some_aihub), atol=1e-9)


def test_a_sure_measurement_is_repeated_and_a_vague_one_is_not(some_aihub: Table) -> None:
    log_ms = some_aihub.log_ms.copy()
    log_ms[0] += 3.0
    sure, vague = (
        LatencyModel(**SMALL).fit(some_aihub, log_ms, np.full(len(log_ms), noise)).predict(some_aihub)[0]
        for noise in (1e-4, 100.0)
    )
    assert abs(sure - log_ms[0]) < 0.1
    assert abs(vague - log_ms[0]) > 1.0


@given(row=st.integers(0, 10_000), shift=st.floats(-3, 3).filter(lambda x: abs(x) > 0.05))
@settings(max_examples=15, deadline=None)
def test_one_measurement_moves_the_prediction_toward_it(some_aihub: Table, row: int, shift: float) -> None:
    cell = some_aihub.take(np.array([row % len(some_aihub)]))
    rest = some_aihub.take(np.arange(len(some_aihub)) != row % len(some_aihub))
    before = fit(rest)
    expected = float(before.predict(cell)[0])
    after = float(before.add(cell, np.array([expected + shift])).predict(cell)[0])
    assert 0 < (after - expected) / shift <= 1


def test_measuring_never_makes_a_unit_less_certain(some_aihub: Table) -> None:
    half = np.arange(len(some_aihub)) % 2 == 0
    before = fit(some_aihub.take(half)).predict(some_aihub, return_std=True)[1]
    after = fit(some_aihub.take(half)).add(some_aihub.take(~half)).predict(some_aihub, return_std=True)[1]
    assert (after <= before + 1e-9).all()


def test_adding_a_new_model_equals_fitting_it_with_the_same_inducing_cells(some_aihub: Table) -> None:
    new = some_aihub.model == some_aihub.model[0]
    grown = fit(some_aihub.take(~new)).add(some_aihub.take(new), some_aihub.log_ms[new])
    again = fit(some_aihub.take(~new)).add(some_aihub.take(new & (some_aihub.units() % 2 == 0)))
    again = again.add(some_aihub.take(new & (some_aihub.units() % 2 == 1)))
    assert np.allclose(grown.predict(some_aihub), again.predict(some_aihub), atol=1e-6)


def test_other_measurements_on_the_same_population_equal_a_fit_to_them(some_aihub: Table) -> None:
    later = some_aihub.log_ms + 0.1
    model = fit(some_aihub).recondition(some_aihub, later, np.full(len(later), 0.01))
    whole = LatencyModel(**SMALL).fit(some_aihub, later, np.full(len(later), 0.01))
    assert np.allclose(model.predict(some_aihub), whole.predict(some_aihub), atol=0.01)


def test_prepared_cells_have_the_posterior_of_the_table(some_aihub: Table) -> None:
    half = np.arange(len(some_aihub)) % 2 == 0
    model = LatencyModel(**SMALL).fit(some_aihub.take(half), universe=some_aihub)
    prepared = model.panel(some_aihub)
    for grown in (model, model.recondition(some_aihub.take(~half))):
        direct, again = grown.posterior(some_aihub), grown.posterior(prepared)
        assert np.array_equal(direct.mean, again.mean)
        assert np.array_equal(direct.sd, again.sd)


def test_repeated_rows_of_a_cell_weigh_as_their_number(some_aihub: Table) -> None:
    twice = concatenate(some_aihub, some_aihub)
    once = LatencyModel(**SMALL).fit(some_aihub, noise_var=np.full(len(some_aihub), 0.07**2 / 2))
    assert np.allclose(fit(twice).predict(some_aihub), once.predict(some_aihub), atol=1e-9)


def test_names_never_seen_are_predicted_with_more_doubt_than_known_ones(some_aihub: Table) -> None:
    model = fit(some_aihub)
    known = some_aihub.take(np.array([0]))
    strange = make_cell("new-chip", "new-model", "fp16.tflite.gpu")
    mean, sd = model.predict(concatenate(known, strange), return_std=True)
    assert np.isfinite(mean).all()
    assert sd[1] > 3 * sd[0]


def test_a_bare_table_of_four_columns_is_enough() -> None:
    rng = np.random.default_rng(0)
    chip, name, arm = (grid.ravel() for grid in np.meshgrid(range(4), range(5), range(3), indexing="ij"))
    level = rng.normal(size=4)[chip] + rng.normal(size=5)[name] + np.array([0.0, 0.7, 1.4])[arm]
    table = Table.of(
        {"chipset": chip.astype(str), "model": name.astype(str), "arm": arm.astype(str), "latency_ms": np.exp(level)}
    )
    held = np.arange(len(table)) % 4 == 0
    predicted = fit(table.take(~held)).predict(table.take(held))
    assert np.corrcoef(predicted, level[held])[0, 1] > 0.9


def test_nothing_measured_gives_the_prior() -> None:
    cell = make_cell("c", "m", "int8.tflite.qnn")
    mean, sd = LatencyModel().fit(cell.take(np.zeros(0, np.intp)), universe=cell).predict(cell, return_std=True)
    assert mean[0] == 0
    assert sd[0] > 1


def test_a_latency_that_is_not_finite_is_refused(some_aihub: Table) -> None:
    with pytest.raises(ValueError, match="finite log latency"):
        LatencyModel().fit(some_aihub, np.full(len(some_aihub), np.nan))


def test_the_universe_gives_features_and_never_latencies(some_aihub: Table) -> None:
    held = some_aihub.chipset == some_aihub.chipset[0]
    test, rest = some_aihub.take(held), some_aihub.take(~held)
    honest = LatencyModel(**SMALL).fit(rest, universe=test).predict(test)
    poisoned = Table(test.chipset, test.model, test.arm, test.latency_ms * 1e6, test.text, test.number)
    assert np.array_equal(LatencyModel(**SMALL).fit(rest, universe=poisoned).predict(test), honest)


def test_the_posterior_of_units_agrees_with_the_cells_and_is_a_covariance(some_aihub: Table) -> None:
    posterior = fit(some_aihub.take(np.arange(len(some_aihub)) % 2 == 0)).posterior(some_aihub)
    rows = np.concatenate([group.rows.ravel() for group in posterior.groups])
    assert np.array_equal(np.sort(rows), np.arange(len(some_aihub)))
    for group in posterior.groups:
        assert np.allclose(np.sqrt(np.einsum("uss->us", group.covariance)), posterior.sd[group.rows], atol=1e-6)
        assert np.linalg.eigvalsh(group.covariance).min() > -1e-8


def test_the_best_arms_chances_add_up_to_one(some_aihub: Table) -> None:
    posterior = fit(some_aihub.take(np.arange(len(some_aihub)) % 4 == 0)).posterior(some_aihub)
    chance = np.bincount(some_aihub.units(), posterior.best_probability())
    assert np.allclose(chance, 1.0)
    assert (posterior.expected_excess(2.0) >= 0).all()


def test_prior_covariances_are_positive_definite_and_match_their_diagonal(some_aihub: Table) -> None:
    space = Space.of(some_aihub)
    covariance = Covariance(space, FROZEN)
    one = some_aihub.model == some_aihub.model[0]
    cells = space.codes(some_aihub.take(one))
    matrix = covariance.within_model(cells, cells)
    assert np.allclose(np.diag(matrix), covariance.variance(cells))
    assert np.linalg.eigvalsh(matrix).min() > -1e-9


def test_the_frozen_variances_name_terms_that_exist() -> None:
    assert set(FROZEN) == {term.label for term in TERMS}


def test_the_evidence_has_the_gradient_that_differences_give(some_aihub: Table) -> None:
    evidence = Evidence(some_aihub.take(np.arange(60)), 0.07)
    theta = np.log(np.full(len(evidence.terms), 0.02))
    _, slope = evidence(theta)
    for number in (0, 6, 20, len(theta) - 1):
        step = np.zeros(len(theta))
        step[number] = 1e-5
        difference = (evidence(theta + step)[0] - evidence(theta - step)[0]) / 2e-5
        assert slope[number] == pytest.approx(difference, rel=1e-3, abs=1e-5)


def test_refitting_raises_the_evidence(some_aihub: Table) -> None:
    found = refit(some_aihub, rows=150, iterations=5)
    few = some_aihub.take(np.arange(150))
    evidence = Evidence(few, 0.07)
    theta = np.log([max(found[term.label], 1e-6) for term in evidence.terms])
    assert evidence(theta)[0] < evidence(np.log(np.full(len(theta), 0.02)))[0]


def test_models_are_told_apart_by_parameters_and_by_layers_of_their_files() -> None:
    table = Table.of(
        {
            "chipset": ["c"] * 6,
            "model": ["a", "a", "b", "b", "c", "c"],
            "arm": ["fp32.tflite.cpu", "fp32.onnx.cpu"] * 3,
            "params": [1e6, 1e6, 1e6, 1e6, np.nan, np.nan],
            "layers": [100, 100, 100, 300, np.nan, np.nan],
        }
    )
    alike = Space.of(table).model_kernels()["size"]
    assert alike[0, 1] < 0.5
    assert 0 < alike[0, 2] < 1
    assert np.array_equal(np.diag(alike), np.ones(3))


def test_the_order_of_rows_does_not_move_coordinates(some_aihub: Table) -> None:
    shuffled = some_aihub.take(np.random.default_rng(2).permutation(len(some_aihub)))
    assert np.array_equal(Space.of(some_aihub).model_coordinates, Space.of(shuffled).model_coordinates)


def test_a_graph_in_pieces_is_expected_slower_until_it_was_measured() -> None:
    names = {"chipset": ["a", "a", "b", "b"], "model": ["m"] * 4, "arm": ["x.tflite.npu", "y.tflite.npu"] * 2}
    cells = Table.of({**names, "latency_ms": [2.0] * 4, "coverage": [1.0, np.nan, 1.0, 0.92]})
    guessed = LatencyModel().fit(cells.take(np.arange(3)), universe=cells).predict(cells)
    assert guessed[3] - guessed[2] == pytest.approx(coverage_log_cost(np.array([0.92]))[0], abs=0.05)
    known = LatencyModel(noise_sd=1e-3).fit(cells).predict(cells)
    assert np.allclose(known, np.log(2.0), atol=0.01)
