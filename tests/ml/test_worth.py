"""A report is worth what it may change: computed exactly, for all classes it tells of, without what is known anyway."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ml.fleet_posterior
from ml.fleet_posterior import fleet_posterior
from ml.latency import LatencyModel
from ml.limits import CellFacts, Exclusion
from ml.memory import Memory
from ml.posterior import Joint
from ml.rankings import Rankings
from ml.recommend import recommend
from ml.table import Table
from ml.worth import TOLD_VARIANCE, Prospect, most_worth, prospects, worth

CLASSES, ARMS = 3, 2


def prospect(score: list[float], covariance: np.ndarray) -> Prospect:
    """Classes with two arms each, all reported, the first arm leading."""
    rows = np.arange(len(score))
    leaders = rows[::ARMS]
    return Prospect(
        rows, np.array(score), covariance, leaders, leaders, np.ones(len(leaders), bool), np.zeros(len(rows), bool)
    )


def alike(shared: float, own: float) -> np.ndarray:
    """Covariance of the second arm over the classes; the first is known."""
    doubt = shared * np.ones((CLASSES, CLASSES)) + own * np.eye(CLASSES)
    return np.kron(doubt, np.diag([1e-9, 1.0]))


@pytest.fixture(scope="module")
def rankings(some_aihub: Table) -> Rankings:
    seen = np.random.default_rng(0).random(len(some_aihub)) < 0.25
    known = some_aihub.take(seen)
    bad = np.where(some_aihub.arm == some_aihub.arm[0], 0.5, 0.0)
    facts = CellFacts({"accuracy_drop": bad, "max_accuracy_drop": np.full(len(some_aihub), 0.01)})
    return recommend(known, some_aihub, reports=np.full(len(known), 2), facts=facts)


def test_gain_is_the_mean_fall_of_the_leading_cost_over_what_reports_may_say() -> None:
    rng = np.random.default_rng(0)
    root = rng.standard_normal((6, 6)) / 4
    given = prospect([0.0, 0.1, 0.0, 0.3, 0.0, 0.05], root @ root.T)
    for cell, gain in enumerate(given.gain().tolist()):
        step = given.covariance[cell] / np.sqrt(given.covariance[cell, cell] + TOLD_VARIANCE)
        moved = (given.score + rng.standard_normal((200_000, 1)) * step).reshape(-1, 3, ARMS)
        fall = (moved[:, :, 0] - moved.min(axis=2)).sum(axis=1)
        assert gain == pytest.approx(fall.mean(), rel=0.1, abs=0.002)


def test_a_report_that_tells_of_all_classes_is_worth_more_than_one_that_tells_of_its_own() -> None:
    score = [0.0, 0.1] * CLASSES
    shared, own = (prospect(score, alike(*part)).gain()[1] for part in ((0.04, 0.0), (0.0, 0.04)))
    assert shared == pytest.approx(CLASSES * own, rel=1e-6)


def test_what_is_known_and_what_is_hopeless_are_worth_nothing() -> None:
    known, doubted = prospect([0.0, 0.1] * CLASSES, alike(0.0, 0.04)).gain()[:2]
    hopeless = prospect([0.0, 5.0] * CLASSES, alike(0.0, 0.04)).gain()[1]
    assert known < 1e-3 < doubted
    assert hopeless < 1e-9


def test_a_second_report_is_worth_less_than_the_first() -> None:
    first = prospect([0.0, 0.1] * CLASSES, alike(0.04, 0.001))
    second = first.told(np.array([1]))
    assert (second.gain()[1::ARMS] < 0.5 * first.gain()[1::ARMS]).all()


def test_a_leader_that_nobody_reported_is_worth_a_look_until_it_was_told() -> None:
    sure = prospect([0.0, 0.5] * CLASSES, alike(0.0, 1e-6))
    unheard = replace(sure, unheard=np.array([True, False] * CLASSES))
    assert unheard.gain().argmax() == 0
    assert unheard.told(unheard.leaders).gain().max() < 1e-6


def test_what_is_left_after_a_report_is_what_the_estimator_leaves(some_aihub: Table) -> None:
    cells = some_aihub.take(some_aihub.model == some_aihub.model[0])
    known = some_aihub.take(np.random.default_rng(0).random(len(some_aihub)) < 0.3)
    model = LatencyModel(n_inducing=80).fit(known, universe=some_aihub)
    together = np.zeros(len(cells), np.intp)
    before = model.posterior(cells, together).groups[0].covariance[0]
    told = model.add(cells.take(np.array([2])), noise_var=np.array([TOLD_VARIANCE]))
    after = told.posterior(cells, together).groups[0].covariance[0]
    left = prospect([0.0] * len(cells), before).told(np.array([2])).covariance
    assert np.allclose(left, after, atol=1e-3 * before.max())


def test_reports_are_asked_for_where_the_first_is_worth_most_and_never_twice(rankings: Rankings) -> None:
    allowed = rankings.excluded == Exclusion.NONE.value
    rows = most_worth(rankings, 60, allowed)
    gains = np.concatenate([one.gain() for one in prospects(rankings)])
    where = np.concatenate([one.rows for one in prospects(rankings)])
    assert rows[0] == where[np.where(allowed[where], gains, 0.0).argmax()]
    assert len(np.unique(rows)) == 60
    assert allowed[rows].all()


def test_a_unit_that_nothing_can_serve_gains_nothing(some_aihub: Table) -> None:
    cells = some_aihub.take(some_aihub.model == some_aihub.model[0])
    facts = CellFacts({"accuracy_drop": np.full(len(cells), 0.5), "max_accuracy_drop": np.full(len(cells), 0.01)})
    none = cells.take(np.zeros(0, np.intp))
    out = recommend(none, cells, reports=np.zeros(0, np.intp), facts=facts)
    assert not worth(out).any()
    assert not len(most_worth(out, 3, np.ones(len(cells), bool)))


def test_what_leaders_tell_by_themselves_is_not_asked_for(rankings: Rankings) -> None:
    assert worth(rankings)[rankings.leader].max() < worth(rankings).max() / 3


@pytest.mark.parametrize("most", [20, 400])
def test_every_cell_is_doubted_once_together_with_its_unit(
    some_aihub: Table, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ml.fleet_posterior, "MOST_TOGETHER", most)
    known = some_aihub.take(np.random.default_rng(0).random(len(some_aihub)) < 0.3)
    posterior = fleet_posterior(known, some_aihub, np.ones(len(known), np.intp), 0, Memory())
    joints = list(posterior.joints())
    assert np.array_equal(np.sort(np.concatenate([joint.rows for joint in joints])), np.arange(len(some_aihub)))
    assert max(len(joint.rows) for joint in joints) < most + 30
    by_first_row = {int(row): joint for joint in joints for row in joint.rows}
    for group in posterior.groups:
        for rows, covariance in zip(*group, strict=True):
            assert np.allclose(covariance, _of(by_first_row[int(rows[0])], rows), atol=1e-9)


def _of(joint: Joint, rows: np.ndarray) -> np.ndarray:
    place = [joint.rows.tolist().index(row) for row in rows.tolist()]
    return joint.covariance[np.ix_(place, place)]
