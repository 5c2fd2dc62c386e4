"""scikit-learn's own checks, on the model behind a matrix: its rows are those of a table, names beside numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from ml.latency import LatencyModel
from ml.table import Numbers, Table


class OnMatrix(RegressorMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """The latency model of one model and arm on chipsets whose features are the columns of a matrix."""

    def __init__(self, noise_sd: float = 0.07, n_inducing: int = 50, random_state: int = 0) -> None:
        self.noise_sd = noise_sd
        self.n_inducing = n_inducing
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        matrix, log_ms = validate_data(self, X, y, y_numeric=True)
        variances = {"near··": 100.0, "same··": 0.01}
        model = LatencyModel(variances, self.noise_sd, self.n_inducing, random_state=self.random_state)
        self.model_ = model.fit(as_table(matrix), log_ms)
        return self

    def predict(self, X: ArrayLike) -> Numbers:
        check_is_fitted(self)
        return np.asarray(self.model_.predict(as_table(validate_data(self, X, reset=False))))


def as_table(matrix: Numbers) -> Table:
    """Every row a chipset of its own, named by its features."""
    names = [" ".join(map(str, row)) for row in matrix.tolist()]
    columns: dict[str, Any] = {"chipset": names, "model": ["m"] * len(names), "arm": ["a"] * len(names)}
    return Table.of(columns | {f"chip_{number}": column for number, column in enumerate(matrix.T.astype(np.float64))})


@parametrize_with_checks([OnMatrix()])
def test_the_model_keeps_scikit_learns_conventions(estimator: OnMatrix, check: Any) -> None:
    check(estimator)


def test_the_model_itself_is_cloned_by_its_parameters_and_says_that_it_takes_no_matrix() -> None:
    """Why the checks above go through a matrix: `check_estimator` has nothing to feed to a model of tables."""
    model = clone(LatencyModel(n_inducing=77)).set_params(noise_sd=0.1)
    assert model.get_params() == {**LatencyModel().get_params(), "n_inducing": 77, "noise_sd": 0.1}
    assert not get_tags(model).input_tags.two_d_array
    assert not get_tags(model).target_tags.required
