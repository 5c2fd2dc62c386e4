"""Expected latency of every arm on every chipset, learned from a sparse table: a hierarchical Gaussian process.

log latency(chipset, model, arm) = level + Σ f_k + noise, each f_k a Gaussian process whose covariance is a product of
kernels on the three axes (`ml.kernels`). What coverage short of full is expected to cost (`ml.coverage_prior`) is taken off
every latency first and put back at the end. Computation: the population terms go through inducing cells (Nyström), the
local terms are exact within each model, so that cost is linear in the number of models:

    y_m = Φ_m w + e_m,  w ~ N(0, I),  e_m ~ N(0, A_m),  A_m = K_m − Φ_m Φ_mᵀ + noise    (the full residual)
    B = I + Σ_m Φ_mᵀ A_m⁻¹ Φ_m,  E[w] = B⁻¹ Σ_m Φ_mᵀ A_m⁻¹ (y_m − level)

This is the partially independent conditional of Snelson & Ghahramani (2007) with one block a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ml.coverage_prior import partial_log_cost
from ml.features import Matrix
from ml.kernels import Cells, Covariance, Space
from ml.measured import Measured, by_model, distinct, joined, merged, unit_rows
from ml.posterior import Posterior, UnitGroup
from ml.table import Index, Numbers, Table, concatenate
from ml.variances import FROZEN

JITTER = 1e-4
PAIR_SHARE = 2 / 3


class Block(NamedTuple):
    """One model's measurements and their factors: L Lᵀ = A, `weights` = L⁻¹ Φ, `residual` = L⁻¹ (y − level)."""

    measured: Measured
    factor: Matrix
    weights: Matrix
    residual: Numbers


class Part(NamedTuple):
    """One model's cells among those asked: `features` Φ, and by number of arms the rows (units, arms) within the part
    with what population and measurements leave of their covariance K − ΦΦᵀ (units, arms, arms).
    """

    model: int
    rows: Index
    features: Matrix
    groups: tuple[tuple[Index, NDArray[np.float64]], ...]


@dataclass(frozen=True)
class Panel:
    """Cells that are asked again and again, with what of their posterior no measurement changes. `partial` is the log cost
    of their coverage.
    """

    cells: Cells
    parts: tuple[Part, ...]
    covariance: Covariance
    partial: Numbers


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

    def __sklearn_tags__(self) -> Any:
        """Rows are those of a `Table`, names beside numbers, and not of a matrix; y may stand in the table itself."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.required = False
        return tags

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
        return self._conditioned_on(measured)

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
                measured = merged(joined(measured, old.measured))
        return grown._condition(measured, precision, pull)

    def recondition(self, X: Table, y: Numbers | None = None, noise_var: Numbers | None = None) -> LatencyModel:
        """This model's population, variances and level with rows X for its measurements, all others forgotten.

        As exact as `fit` where nothing new has to be learned of scales: a tenth of the cost, for rounds between fits.
        Raises KeyError on names that neither `fit` nor its universe knew.
        """
        check_is_fitted(self, "weights_")
        other = LatencyModel(**self.get_params(deep=False))
        other.space_, other._covariance = self.space_, self._covariance
        other.level_, other.population_ = self.level_, self.population_
        return other._conditioned_on(other._measured(X, y, noise_var))

    @property
    def measured_(self) -> Measured:
        """Every measured cell once, by model."""
        none = Measured(Cells(*np.zeros((3, 0), dtype=np.intp)), np.zeros(0), np.zeros(0))
        return reduce(joined, (self.blocks_[model].measured for model in sorted(self.blocks_)), none)

    def restore(self, space: Space, level: float, inducing: Cells, measured: Measured) -> Self:
        """Become the model that had these names, level, inducing cells and measurements (`ml.model_file`)."""
        self.space_, self.level_ = space, level
        self._covariance = Covariance(space, self._floored())
        self.population_ = self._population(inducing)
        return self._conditioned_on(measured)

    def predict(self, X: Table, return_std: bool = False) -> Numbers | tuple[Numbers, Numbers]:
        """Posterior mean of log latency (log ms) of each cell, and its standard deviation where asked for."""
        found = self.posterior(X)
        return (found.mean, found.sd) if return_std else found.mean

    def panel(self, X: Table, units: Index | None = None) -> Panel:
        """The cells of X prepared for `posterior`, for this model and those that `recondition` makes of it."""
        check_is_fitted(self, "weights_")
        space, covariance = self._reach(X)
        cells = space.codes(X)
        parts = tuple(self._parts(cells, X.units() if units is None else units, covariance))
        return Panel(cells, parts, covariance, partial_log_cost(X))

    def posterior(self, X: Table | Panel, units: Index | None = None) -> Posterior:
        """Joint posterior of the cells of each unit (default: each chipset and model). A unit is of one model."""
        check_is_fitted(self, "weights_")
        if isinstance(X, Panel):
            return self._posterior(X.cells, X.parts, X.covariance, X.partial)
        space, covariance = self._reach(X)
        cells = space.codes(X)
        parts = self._parts(cells, X.units() if units is None else units, covariance)
        return self._posterior(cells, parts, covariance, partial_log_cost(X))

    def _posterior(self, cells: Cells, parts: Iterable[Part], covariance: Covariance, partial: Numbers) -> Posterior:
        mean, sd = np.zeros(len(cells.arm)), np.zeros(len(cells.arm))
        groups: dict[int, list[UnitGroup]] = {}
        for part in parts:
            mean[part.rows], cross, pull = self._project(cells.take(part.rows), part, covariance)
            for group, prior in part.groups:
                joint = prior + _gram(pull, group) - _gram(cross, group)
                sd[part.rows[group]] = np.sqrt(np.maximum(np.einsum("uss->us", joint), 1e-6))
                groups.setdefault(group.shape[1], []).append(UnitGroup(part.rows[group], joint))
        stacked = [
            UnitGroup(np.concatenate([unit.rows for unit in same]), np.concatenate([unit.covariance for unit in same]))
            for _, same in sorted(groups.items())
        ]
        return Posterior(mean + partial, sd, tuple(stacked))

    def _project(self, asked: Cells, part: Part, covariance: Covariance) -> tuple[Numbers, Matrix, Matrix]:
        """Mean of one model's cells; columns whose products its own measurements take from their covariance, and
        those that the population's remaining doubt adds.
        """
        block, rest = self.blocks_.get(part.model), part.features
        cross: Matrix = np.zeros((0, len(part.rows)))
        mean: Numbers = np.full(len(part.rows), self.level_)
        if block is not None:
            prior = covariance.within_model(block.measured.cells, asked)
            cross = _solve(block.factor, prior) - block.weights @ part.features.T
            rest = part.features - cross.T @ block.weights
            mean = mean + cross.T @ block.residual
        return mean + rest @ self.weights_, cross, _solve(self.weights_factor_, rest.T)

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
        return merged(Measured(self.space_.codes(X), log_ms - partial_log_cost(X), noise))

    def _choose_population(self, measured: Cells, known: Cells) -> Population:
        """One cell of each (chipset, arm), measured ones first, then random measured cells.

        Without a cell of its own, what a chipset and arm have in common across models would be lost.
        """
        rng = np.random.default_rng(self.random_state)
        shuffled = measured.take(rng.permutation(len(measured.arm)))
        others = distinct(known)
        others = others.take(rng.permutation(len(others.arm)))
        both = Cells(*(np.concatenate(pair) for pair in zip(shuffled, others, strict=True)))
        pair = both.chipset * (both.arm.max(initial=0) + 1) + both.arm
        first = np.sort(np.unique(pair, return_index=True)[1])[: int(self.n_inducing * PAIR_SHARE)]
        rest = np.setdiff1d(np.arange(len(shuffled.arm)), first)[: self.n_inducing - len(first)]
        return self._population(distinct(both.take(np.concatenate([first, rest]).astype(np.intp))))

    def _population(self, cells: Cells) -> Population:
        prior = self._covariance.population(cells, cells)
        prior[np.diag_indices_from(prior)] += JITTER
        return Population(cells, cholesky(prior, lower=True, check_finite=False))

    def _conditioned_on(self, measured: Measured) -> Self:
        """The posterior given these measurements and no others."""
        self.blocks_: dict[int, Block] = {}
        size = len(self.population_.cells.arm)
        return self._condition(measured, np.eye(size), np.zeros(size))

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

    def _parts(self, cells: Cells, units: Index, covariance: Covariance) -> Iterator[Part]:
        for model, rows, features in self._features(cells, covariance):
            asked, groups = cells.take(rows), []
            for group in unit_rows(units[rows]):
                same = Cells(*(code[group] for code in asked))
                groups.append((group, covariance.within_model(same, same) - _gram(features.T, group)))
            yield Part(model, rows, features, tuple(groups))

    def _features(self, cells: Cells, covariance: Covariance) -> Iterator[tuple[int, Index, Matrix]]:
        """(model, its rows, Φ of them) for each model among the cells."""
        inducing = self.population_.cells
        width = int(cells.arm.max(initial=0)) + 1
        pairs, pair = np.unique(cells.chipset * width + cells.arm, return_inverse=True)
        tables = covariance.population_tables(Cells(pairs // width, np.zeros_like(pairs), pairs % width), inducing)
        for model, rows in by_model(cells.model):
            prior = np.zeros((len(rows), len(inducing.arm)))
            for name, table in tables.items():
                prior += table[pair[rows]] * covariance.model[name][model, inducing.model]
            yield model, rows, _solve(self.population_.factor, prior.T).T


def _solve(factor: Matrix, right: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(solve_triangular(factor, right, lower=True, check_finite=False))


def _gram(columns: Matrix, group: Index) -> NDArray[np.float64]:
    """Gram matrices (units, arms, arms) of the columns that a group names."""
    stacked = columns.T[group]
    return stacked @ np.swapaxes(stacked, 1, 2)
