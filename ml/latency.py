"""Expected latency of every arm on every chipset, learned from a sparse table: a hierarchical Gaussian process.

log latency(chipset, model, arm) = level + Σ f_k + noise, each f_k a Gaussian process whose covariance is a product of
kernels on the three axes (`ml.kernels`). Computation: the population terms go through inducing cells (Nyström), the
local terms are exact within each model, so that cost is linear in the number of models:

    y_m = Φ_m w + e_m,  w ~ N(0, I),  e_m ~ N(0, A_m),  A_m = K_m − Φ_m Φ_mᵀ + noise    (the full residual)
    B = I + Σ_m Φ_mᵀ A_m⁻¹ Φ_m,  E[w] = B⁻¹ Σ_m Φ_mᵀ A_m⁻¹ (y_m − level)

This is the partially independent conditional of Snelson & Ghahramani (2007) with one block a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ml.kernels import Cells, Covariance, Matrix, Space
from ml.posterior import Posterior, UnitGroup
from ml.table import Index, Numbers, Table, concatenate
from ml.variances import FROZEN

JITTER = 1e-4
PAIR_SHARE = 2 / 3


class Measured(NamedTuple):
    """Rows of measured cells, each cell once: codes, log latency, noise variance."""

    cells: Cells
    log_ms: Numbers
    noise: Numbers

    def take(self, rows: NDArray[np.bool_] | Index) -> Measured:
        """The rows at an index or mask."""
        return Measured(self.cells.take(rows), self.log_ms[rows], self.noise[rows])


class Block(NamedTuple):
    """One model's measurements and their factors: L Lᵀ = A, `weights` = L⁻¹ Φ, `residual` = L⁻¹ (y − level)."""

    measured: Measured
    factor: Matrix
    weights: Matrix
    residual: Numbers


@dataclass(frozen=True)
class Population:
    """Inducing cells and the lower factor of their covariance."""

    cells: Cells
    factor: Matrix


class LatencyModel(RegressorMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Hierarchical Gaussian process on log latency, over tidy tables.

    Parameters
    ----------
    variances : variance of each term by label (`ml.kernels.TERMS`); None takes the frozen ones (`ml.variances`).
    noise_sd : standard deviation of one measurement's log latency, where `noise_var` is not given.
    n_inducing : cells that carry what models have in common.
    min_model_arm_sd : least standard deviation of an arm's effect on one model: room for the rare fall-back of an
        arm that was never tried there.
    random_state : seed of the choice of inducing cells.

    Learned: `level_`, `space_`, `population_`, `blocks_` (by model code), `weights_` and `weights_factor_` (posterior
    of w: mean and lower factor of its precision).
    """

    def __init__(
        self,
        variances: Mapping[str, float] | None = None,
        noise_sd: float = 0.07,
        n_inducing: int = 600,
        min_model_arm_sd: float = 0.2,
        random_state: int = 0,
    ) -> None:
        self.variances = variances
        self.noise_sd = noise_sd
        self.n_inducing = n_inducing
        self.min_model_arm_sd = min_model_arm_sd
        self.random_state = random_state

    def fit(
        self, X: Table, y: Numbers | None = None, noise_var: Numbers | None = None, universe: Table | None = None
    ) -> Self:
        """Fit to rows X with log latencies y (log ms; None takes the table's own).

        `noise_var` is the variance of each y around the true log latency. `universe` tells features of chipsets,
        models and arms that will be asked for or added later; its latencies are never read. Repeated rows of a cell
        are merged by precision; the order of rows does not matter. Raises ValueError on a latency that is not finite.
        """
        known = X if universe is None else concatenate(X, universe)
        self.space_ = Space.of(known)
        self._covariance = Covariance(self.space_, self._floored())
        measured = self._measured(X, y, noise_var)
        self.level_ = float(measured.log_ms.mean()) if len(measured.log_ms) else 0.0
        self.population_ = self._choose_population(measured.cells, self.space_.codes(known))
        self.blocks_: dict[int, Block] = {}
        size = len(self.population_.cells.arm)
        return self._condition(measured, np.eye(size), np.zeros(size))

    def add(self, X: Table, y: Numbers | None = None, noise_var: Numbers | None = None) -> LatencyModel:
        """This model with more rows, in closed form: blocks of the models concerned are made anew, nothing else.

        The population's inducing cells stay: what a chipset or arm unknown to `fit` and its universe has in common
        across models is learned only by a new fit.
        """
        check_is_fitted(self, "weights_")
        grown = LatencyModel(**self.get_params(deep=False))
        grown.level_, grown.population_ = self.level_, self.population_
        grown.space_, grown._covariance = self._reach(X)
        grown.blocks_ = dict(self.blocks_)
        measured = grown._measured(X, y, noise_var)
        precision = self.weights_factor_ @ self.weights_factor_.T
        pull = precision @ self.weights_
        for model in np.unique(measured.cells.model).tolist():
            if old := grown.blocks_.pop(model, None):
                precision = precision - old.weights.T @ old.weights
                pull = pull - old.weights.T @ old.residual
                measured = _merged(_joined(measured, old.measured))
        return grown._condition(measured, precision, pull)

    def predict(self, X: Table, return_std: bool = False) -> Numbers | tuple[Numbers, Numbers]:
        """Posterior mean of log latency (log ms) of each cell, and its standard deviation where asked for."""
        found = self.posterior(X)
        return (found.mean, found.sd) if return_std else found.mean

    def posterior(self, X: Table, units: Index | None = None) -> Posterior:
        """Joint posterior of the cells of each unit (default: each chipset and model). A unit is of one model."""
        check_is_fitted(self, "weights_")
        space, covariance = self._reach(X)
        cells = space.codes(X)
        units = X.units() if units is None else units
        mean, sd = np.zeros(len(X)), np.zeros(len(X))
        groups: dict[int, list[UnitGroup]] = {}
        for model, rows, features in self._features(cells, covariance):
            asked = cells.take(rows)
            block = self.blocks_.get(model)
            if block is None:
                cross = np.zeros((0, len(rows)))
                rest = features
                mean[rows] = self.level_ + features @ self.weights_
            else:
                prior = covariance.within_model(block.measured.cells, asked)
                cross = _solve(block.factor, prior) - block.weights @ features.T
                rest = features - cross.T @ block.weights
                mean[rows] = self.level_ + cross.T @ block.residual + rest @ self.weights_
            pull = _solve(self.weights_factor_, rest.T)
            for group in _unit_rows(units[rows]):
                joint = covariance.within_model(
                    Cells(*(code[group] for code in asked)), Cells(*(code[group] for code in asked))
                )
                joint += _gram(pull, group) - _gram(features.T, group) - _gram(cross, group)
                sd[rows[group]] = np.sqrt(np.maximum(np.einsum("uss->us", joint), 1e-6))
                groups.setdefault(group.shape[1], []).append(UnitGroup(rows[group], joint))
        stacked = [
            UnitGroup(
                np.concatenate([part.rows for part in parts]), np.concatenate([part.covariance for part in parts])
            )
            for _, parts in sorted(groups.items())
        ]
        return Posterior(mean, sd, tuple(stacked))

    def _floored(self) -> dict[str, float]:
        variances = dict(FROZEN if self.variances is None else self.variances)
        label = "·same·same"
        variances[label] = max(variances.get(label, 0.0), self.min_model_arm_sd**2)
        return variances

    def _reach(self, X: Table) -> tuple[Space, Covariance]:
        """Space and covariance that also know the table's names."""
        space = self.space_.extended(X)
        return (space, self._covariance) if space is self.space_ else (space, Covariance(space, self._floored()))

    def _measured(self, X: Table, y: Numbers | None, noise_var: Numbers | None) -> Measured:
        log_ms = X.log_ms if y is None else np.asarray(y, dtype=np.float64)
        noise = np.full(len(X), self.noise_sd**2) if noise_var is None else np.asarray(noise_var, dtype=np.float64)
        if not (np.isfinite(log_ms).all() and (noise > 0).all()):
            raise ValueError("every row needs a finite log latency and a positive noise variance")
        return _merged(Measured(self.space_.codes(X), log_ms, noise))

    def _choose_population(self, measured: Cells, known: Cells) -> Population:
        """One cell of each (chipset, arm), measured ones first, then random measured cells.

        Without a cell of its own, what a chipset and arm have in common across models would be lost.
        """
        rng = np.random.default_rng(self.random_state)
        shuffled = measured.take(rng.permutation(len(measured.arm)))
        others = _distinct(known)
        others = others.take(rng.permutation(len(others.arm)))
        both = Cells(*(np.concatenate(pair) for pair in zip(shuffled, others, strict=True)))
        pair = both.chipset * (both.arm.max(initial=0) + 1) + both.arm
        first = np.sort(np.unique(pair, return_index=True)[1])[: int(self.n_inducing * PAIR_SHARE)]
        rest = np.setdiff1d(np.arange(len(shuffled.arm)), first)[: self.n_inducing - len(first)]
        cells = _distinct(both.take(np.concatenate([first, rest]).astype(np.intp)))
        prior = self._covariance.population(cells, cells)
        prior[np.diag_indices_from(prior)] += JITTER
        return Population(cells, cholesky(prior, lower=True, check_finite=False))

    def _condition(self, measured: Measured, precision: Matrix, pull: Numbers) -> Self:
        for model, rows, features in self._features(measured.cells, self._covariance):
            block = self._block(measured.take(rows), features)
            precision = precision + block.weights.T @ block.weights
            pull = pull + block.weights.T @ block.residual
            self.blocks_[model] = block
        self.weights_factor_ = cholesky(precision, lower=True, check_finite=False)
        self.weights_ = cho_solve((self.weights_factor_, True), pull, check_finite=False)
        return self

    def _block(self, measured: Measured, features: Matrix) -> Block:
        residual = self._covariance.within_model(measured.cells, measured.cells) - features @ features.T
        residual[np.diag_indices_from(residual)] += measured.noise + 1e-6
        factor = cholesky(residual, lower=True, check_finite=False)
        return Block(measured, factor, _solve(factor, features), _solve(factor, measured.log_ms - self.level_))

    def _features(self, cells: Cells, covariance: Covariance) -> Iterator[tuple[int, Index, Matrix]]:
        """(model, its rows, Φ of them) for each model among the cells."""
        inducing = self.population_.cells
        width = int(cells.arm.max(initial=0)) + 1
        pairs, pair = np.unique(cells.chipset * width + cells.arm, return_inverse=True)
        tables = covariance.population_tables(inducing, Cells(pairs // width, np.zeros_like(pairs), pairs % width))
        for model, rows in _by_model(cells.model):
            columns = pair[rows]
            prior = np.zeros((len(inducing.arm), len(rows)))
            for name, table in tables.items():
                prior += covariance.model[name][inducing.model, model][:, None] * table[:, columns]
            yield model, rows, _solve(self.population_.factor, prior).T


def _solve(factor: Matrix, right: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(solve_triangular(factor, right, lower=True, check_finite=False))


def _gram(columns: Matrix, group: Index) -> NDArray[np.float64]:
    """Gram matrices (units, arms, arms) of the columns that a group names."""
    stacked = columns.T[group]
    return stacked @ np.swapaxes(stacked, 1, 2)


def _by_model(codes: Index) -> Iterator[tuple[int, Index]]:
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    for rows in np.split(order, starts[1:]):
        if len(rows):
            yield int(codes[rows[0]]), rows


def _unit_rows(units: Index) -> Iterator[Index]:
    """Row numbers (units, arms), units of one size together."""
    order = np.argsort(units, kind="stable")
    _, starts, sizes = np.unique(units[order], return_index=True, return_counts=True)
    for size in np.unique(sizes).tolist():
        yield order[starts[sizes == size][:, None] + np.arange(size)]


def _distinct(cells: Cells) -> Cells:
    return Cells(*np.unique(np.stack(cells), axis=1))


def _joined(first: Measured, second: Measured) -> Measured:
    cells = Cells(*(np.concatenate(pair) for pair in zip(first.cells, second.cells, strict=True)))
    return Measured(cells, np.concatenate([first.log_ms, second.log_ms]), np.concatenate([first.noise, second.noise]))


def _merged(measured: Measured) -> Measured:
    """Each cell once: rows of one cell by their precision-weighted mean, which tells a Gaussian process the same."""
    order = np.lexsort(
        (measured.noise, measured.log_ms, measured.cells.arm, measured.cells.chipset, measured.cells.model)
    )
    cells, log_ms, precision = measured.cells.take(order), measured.log_ms[order], 1 / measured.noise[order]
    change = np.stack([np.diff(code, prepend=-1) != 0 for code in cells]).any(axis=0)
    starts = np.flatnonzero(change)
    total = np.add.reduceat(precision, starts) if len(starts) else precision
    pulled = np.add.reduceat(precision * log_ms, starts) if len(starts) else log_ms
    return Measured(cells.take(starts), pulled / total, 1 / total)
