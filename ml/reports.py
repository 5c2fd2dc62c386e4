"""Reports that phones send, one by one, and how far each is believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from scipy.special import expit

from ml.fleet_posterior import CLASS_VARIANCE, REPORT_VARIANCE
from ml.posterior import Posterior
from ml.table import Index, Numbers

CALM_SHARE: Final = 0.92
CALM_VARIANCE: Final = 0.04**2
ROUGH_VARIANCE: Final = 0.25**2
"""Most reports are near the truth; a few come from phones that were hot, busy or throttled (`REPORT_VARIANCE`)."""

WRONG_SHARE: Final = 0.03
WRONG_VARIANCE: Final = 0.7**2
"""Predictions that are off by about a factor of two: 2 to 7 % of AI Hub's cells move by that between releases."""


@dataclass(frozen=True)
class Reports:
    """Reported log latencies (log ms): `row` is the cell's row among the candidates."""

    row: Index
    log_ms: Numbers

    @classmethod
    def none(cls) -> Self:
        """Nothing heard yet."""
        return cls(np.zeros(0, np.intp), np.zeros(0))

    def __len__(self) -> int:
        return len(self.row)

    def heard(self, row: Index, log_ms: Numbers) -> Reports:
        """These reports and more."""
        return Reports(np.append(self.row, row), np.append(self.log_ms, log_ms))


def report_variance(reports: Reports, before: Numbers, posterior: Posterior | None) -> Numbers:
    """Noise variance of each report, by what all others say of its cell.

    One step of reweighting: a report some way from the leave-one-out prediction is rough with the probability that
    follows from the mixture, and counts for as little; one very far from it more likely shows that the prediction is
    wrong, and is believed. `before` is the variance each had when the posterior was made (the first of the reports;
    later ones have not been judged yet).
    """
    variance = np.full(len(reports), REPORT_VARIANCE + CLASS_VARIANCE)
    if posterior is None or not len(before):
        return variance
    row, log_ms = reports.row[: len(before)], reports.log_ms[: len(before)]
    sharp = 1 / posterior.sd[row] ** 2
    others = 1 / np.maximum(sharp - 1 / before, 1e-3)
    error = log_ms - others * (sharp * posterior.mean[row] - log_ms / before)
    calm = np.log(CALM_SHARE) + _log_density(error, others + CALM_VARIANCE)
    rough = np.log(1 - CALM_SHARE) + _log_density(error, others + ROUGH_VARIANCE)
    share = expit(calm - rough)
    variance[: len(before)] = 1 / (share / CALM_VARIANCE + (1 - share) / ROUGH_VARIANCE) + CLASS_VARIANCE
    return variance


def _log_density(error: Numbers, variance: Numbers) -> Numbers:
    """Log density of an error where the prediction is now and then wrong altogether."""
    usual = np.log(1 - WRONG_SHARE) + _log_normal(error, variance)
    return np.asarray(np.logaddexp(usual, np.log(WRONG_SHARE) + _log_normal(error, variance + WRONG_VARIANCE)))


def _log_normal(error: Numbers, variance: Numbers) -> Numbers:
    return -0.5 * (error**2 / variance + np.log(variance))
