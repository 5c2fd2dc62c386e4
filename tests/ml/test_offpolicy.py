"""Off-policy estimates: unbiased, with intervals that hold, and honest about what the log never saw (R-E3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from ml.offpolicy import Estimate, Logged, doubly_robust, ips, overlap, snips
from ml.table import Numbers

USES, ARMS, UNITS, EPSILON = 10_000, 5, 40, 0.1
TRUTH = np.random.default_rng(7).normal(2.0, 0.7, (UNITS, ARMS))
WRONG_MODEL = TRUTH + np.random.default_rng(8).normal(0.0, 0.3, TRUTH.shape)
LOGGING = np.where(np.arange(ARMS) == TRUTH.argmax(axis=1)[:, None], 1 - EPSILON, 0.0) + EPSILON / ARMS
TARGET = np.where(np.arange(ARMS) == TRUTH.argmin(axis=1)[:, None], 0.95, 0.05 / (ARMS - 1))
VALUE = float((TARGET * TRUTH).sum(axis=1).mean())


def make_log(seed: int, model: Numbers = WRONG_MODEL) -> Logged:
    """Uses of an ε-greedy log (ε = 0.1) whose leader is the worst arm; the new ranking leads with the best."""
    rng = np.random.default_rng(seed)
    unit = rng.integers(UNITS, size=USES)
    arm = (rng.random(USES)[:, None] > LOGGING[unit].cumsum(axis=1)).sum(axis=1).clip(max=ARMS - 1)
    noise = np.where(rng.random(USES) < 0.92, 0.04, 0.25) * rng.standard_normal(USES)
    expected = (TARGET * model).sum(axis=1)[unit]
    return Logged(TRUTH[unit, arm] + noise, LOGGING[unit, arm], TARGET[unit, arm], model[unit, arm], expected)


@pytest.mark.parametrize(("method", "bias"), [(ips, 0.02), (snips, 0.01), (doubly_robust, 0.005)])
def test_estimates_are_right_on_average_and_their_intervals_hold(
    method: Callable[[Logged], Estimate], bias: float
) -> None:
    found = [method(make_log(seed)) for seed in range(200)]
    error = float(np.mean([estimate.log_cost for estimate in found])) - VALUE
    coverage = float(np.mean([estimate.low <= VALUE <= estimate.high for estimate in found]))
    print(f"{found[0].method}: bias {error:+.4f}, coverage {coverage:.3f}")
    assert abs(error) <= bias
    assert 0.91 <= coverage <= 0.985


def test_a_model_narrows_the_interval_and_a_wrong_one_does_not_move_the_estimate() -> None:
    log = make_log(0)
    assert _width(doubly_robust(log)) < _width(snips(log)) < _width(ips(log))
    far_off = replace(log, predicted=log.predicted + 3.0, expected=log.expected + 3.0)
    assert abs(doubly_robust(far_off).log_cost - VALUE) < _width(doubly_robust(far_off))


def test_a_log_of_the_ranking_itself_counts_in_full() -> None:
    log = make_log(0)
    same = replace(log, target=log.propensity)
    found = overlap(same)
    assert (found.effective, found.mean_weight) == (pytest.approx(USES), pytest.approx(1.0))
    assert ips(same).log_cost == pytest.approx(snips(same).log_cost) == pytest.approx(log.log_cost.mean())


def test_arms_that_were_never_logged_show_as_missing_weight() -> None:
    log = make_log(0)
    unseen = replace(log, target=np.zeros(USES))
    assert overlap(unseen).mean_weight == 0
    with pytest.raises(ValueError, match="never served"):
        snips(unseen)


def test_few_uses_of_the_new_ranking_are_worth_few() -> None:
    found = overlap(make_log(0))
    assert 100 < found.effective < USES / 4
    assert found.largest_weight == pytest.approx(0.95 / (EPSILON / ARMS))


@pytest.mark.parametrize("propensity", [0.0, 1.5, float("nan")])
def test_a_propensity_that_cannot_be_is_refused(propensity: float) -> None:
    log = make_log(0)
    with pytest.raises(ValueError, match=r"propensity|finite"):
        replace(log, propensity=np.full(USES, propensity))


def _width(estimate: Estimate) -> float:
    return estimate.high - estimate.low
