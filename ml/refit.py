"""Fit the variances of the kernel terms: `python -m ml.refit --table FILE [--rows N] [--seed N]` prints them.

Type-II maximum likelihood on a subset of rows, exact Gaussian process, with a wide log-normal prior that keeps terms
the data do not need near zero. Meant for a table other than the one to be judged: an earlier release.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize

from ml.coverage_prior import partial_log_cost
from ml.features import Matrix
from ml.kernels import TERMS, Cells, Space
from ml.table import Numbers, Table, TableError, decision_subset, read_table
from ml.variances import FROZEN

BOUNDS = (float(np.log(1e-6)), float(np.log(20.0)))


@dataclass(frozen=True)
class Prior:
    """Log-normal prior of variances: the centre of each term by label, `other` for the rest, and one spread."""

    variances: Mapping[str, float]
    other: float
    log_sd: float


WIDE: Final = Prior({}, 0.02, 3.0)
"""Knows next to nothing; keeps terms that the data do not need near zero."""

ADAPT_FROM: Final = 100
ADAPT_ROWS: Final = 1200
ADAPT_ITERATIONS: Final = 12
FROM_FROZEN: Final = Prior(FROZEN, other=1e-4, log_sd=0.75)
"""Rows a population needs before variances adapt to it, rows and steps that this takes (a few seconds), and the prior:
by how much variances differ between populations. Rows and spread chosen by regret on earlier releases of AI Hub."""


class Evidence:
    """Negative log evidence of log variances θ on one set of rows, with its gradient.

    Gradients with respect to a variance are ½ tr((K⁻¹ − ααᵀ) ∂K); the sum over rows is first gathered by
    (chipset, arm) pair and model kernel, so that 36 terms cost about as much as five. Rows are kept in order of their
    pair: gathering is then a sum over neighbours.
    """

    def __init__(self, table: Table, noise_sd: float, prior: Prior = WIDE) -> None:
        space = Space.of(table)
        cells, width = space.codes(table), len(space.arms)
        order = np.argsort(cells.chipset * width + cells.arm, kind="stable")
        cells = cells.take(order)
        chip, model, arm = space.chip_kernels(), space.model_kernels(), space.arm_kernels()
        self.terms = [term for term in TERMS if term.chipset in chip and term.model in model and term.arm in arm]
        pairs, self.starts, self.pair = np.unique(
            cells.chipset * width + cells.arm, return_index=True, return_inverse=True
        )
        by_pair = Cells(pairs // width, np.zeros_like(pairs), pairs % width)
        self.tables = [_outer(chip[t.chipset], by_pair.chipset) * _outer(arm[t.arm], by_pair.arm) for t in self.terms]
        self.models = {name: _outer(kernel, cells.model) for name, kernel in model.items()}
        log_ms = table.log_ms - partial_log_cost(table)
        self.centred = log_ms[order] - log_ms.mean()
        self.noise = noise_sd**2
        self.centre = np.log([prior.variances.get(term.label, prior.other) for term in self.terms])
        self.log_sd = prior.log_sd

    def __call__(self, theta: Numbers) -> tuple[float, Numbers]:
        """Value and gradient."""
        variances = np.exp(theta)
        covariance: Matrix = np.ones((len(self.centred),) * 2)
        for name, kernel in self.models.items():
            mixed = sum(v * table for v, table in self._of(name, variances))
            if not isinstance(mixed, int):
                covariance += _outer(mixed, self.pair) * kernel
        covariance[np.diag_indices_from(covariance)] += self.noise
        factor = cholesky(covariance, lower=True, overwrite_a=True, check_finite=False)
        alpha = cho_solve((factor, True), self.centred, check_finite=False)
        log_root_determinant = np.log(np.diag(factor)).sum()
        outer = _inverse(factor) - np.outer(alpha, alpha)
        gathered = {name: self._gather(outer * kernel) for name, kernel in self.models.items()}
        slope = [0.5 * np.vdot(gathered[t.model], table) for t, table in zip(self.terms, self.tables, strict=True)]
        away = (theta - self.centre) / self.log_sd
        value = 0.5 * self.centred @ alpha + log_root_determinant + 0.5 * away @ away
        return float(value), variances * np.array(slope) + away / self.log_sd

    def _of(self, model: str, variances: Numbers) -> list[tuple[float, Matrix]]:
        known = zip(self.terms, variances.tolist(), self.tables, strict=True)
        return [(variance, table) for term, variance, table in known if term.model == model]

    def _gather(self, weights: Matrix) -> Matrix:
        """Sums over the rows of each pair, on both axes."""
        return np.asarray(np.add.reduceat(np.add.reduceat(weights, self.starts, axis=0), self.starts, axis=1))


def refit(
    table: Table,
    rows: int = 1300,
    seed: int = 0,
    iterations: int = 40,
    noise_sd: float = 0.07,
    prior: Prior = WIDE,
) -> dict[str, float]:
    """Variances by term label. Half of the rows are whole models, so that what happens within one is visible."""
    chosen = table.take(_subset(table, rows, np.random.default_rng(seed)))
    evidence = Evidence(chosen, noise_sd, prior)
    bounds = [BOUNDS] * len(evidence.terms)
    start = np.clip(evidence.centre, *BOUNDS)
    found = minimize(evidence, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": iterations})
    return {term.label: float(v) for term, v in zip(evidence.terms, np.exp(found.x), strict=True)}


def adapted(measured: Table, seed: int = 0) -> dict[str, float]:
    """The frozen variances, moved to what a population shows: another vendor's phones differ in other ways.

    Empirical Bayes on a sample of its rows; the frozen ones themselves where there is little to see.
    """
    if len(measured) < ADAPT_FROM:
        return dict(FROZEN)
    return {**FROZEN, **refit(measured, ADAPT_ROWS, seed, ADAPT_ITERATIONS, prior=FROM_FROZEN)}


def _subset(table: Table, rows: int, rng: np.random.Generator) -> NDArray[np.intp]:
    if len(table) <= rows:
        return np.arange(len(table))
    _, model = np.unique(table.model, return_inverse=True)
    order = rng.permutation(model.max() + 1)
    by_model = np.argsort(np.argsort(order)[model], kind="stable")
    whole = by_model[: rows // 2]
    others = rng.permutation(np.setdiff1d(np.arange(len(table)), whole))
    return np.concatenate([whole, others[: rows - len(whole)]])


def _inverse(factor: Matrix) -> Matrix:
    """Inverse of a matrix from its lower Cholesky factor, which is overwritten: half the work of solving for identity."""
    lower, _ = dpotri(factor, lower=1, overwrite_c=1)
    inverse = lower + lower.T
    inverse[np.diag_indices_from(inverse)] /= 2
    return np.asarray(inverse)


def _outer(kernel: Matrix, codes: NDArray[np.intp]) -> Matrix:
    return kernel[np.ix_(codes, codes)]


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m ml.refit", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--table", type=Path, required=True, help="tidy CSV or Parquet, such as an earlier AI Hub release"
    )
    parser.add_argument("--rows", type=int, default=1300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    try:
        table = decision_subset(read_table(options.table))
    except TableError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    for label, variance in refit(table, options.rows, options.seed).items():
        sys.stdout.write(f'    "{label}": {variance:.3g},\n')
    return 0


if __name__ == "__main__":
    sys.exit(main())
