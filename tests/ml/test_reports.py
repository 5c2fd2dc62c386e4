"""Reports: a rough one counts for little, one that shows the prediction to be wrong is believed."""

from __future__ import annotations

import numpy as np

from ml.posterior import Posterior
from ml.reports import CALM_VARIANCE, Reports, report_variance


def variance_of(error: float, others_sd: float = 0.03, noise: float = 0.0068) -> float:
    """Variance given to a report that lies `error` off what all others say."""
    sharp = 1 / others_sd**2 + 1 / noise
    mean = error / noise / sharp
    posterior = Posterior(np.array([mean]), np.array([sharp**-0.5]), ())
    reports = Reports.none().heard(np.array([0]), np.array([error]))
    return float(report_variance(reports, np.array([noise]), posterior)[0])


def test_a_report_near_the_others_counts_in_full() -> None:
    assert variance_of(0.02) < 2 * CALM_VARIANCE


def test_a_report_some_way_off_counts_for_little() -> None:
    assert variance_of(0.3) > 4 * CALM_VARIANCE


def test_a_report_a_factor_off_shows_the_prediction_to_be_wrong() -> None:
    assert variance_of(1.0) < 2 * CALM_VARIANCE


def test_reports_that_were_not_judged_yet_take_the_usual_variance() -> None:
    reports = Reports.none().heard(np.array([0, 1]), np.array([0.0, 5.0]))
    assert len(set(report_variance(reports, np.zeros(0), None).tolist())) == 1
