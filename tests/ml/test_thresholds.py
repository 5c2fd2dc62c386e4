"""Thresholds follow the fleet's data where there are enough, and stay where there are not (R-C3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ml.rollup import Cell, Rollup
from ml.thresholds import DEFAULT, Pairs, Threshold, partial_pairs, threshold, thresholds


def make_pairs(breaks_even_at: float, count: int = 400, models: int = 40, seed: int = 0) -> Pairs:
    """Pairs whose accelerator is 3 × as fast as the CPU above a coverage and 3 × as slow below."""
    rng = np.random.default_rng(seed)
    coverage = rng.uniform(0.5, 1.0, count)
    ratio = np.where(coverage >= breaks_even_at, -1.1, 1.1) + 0.3 * rng.standard_normal(count)
    return Pairs(coverage, np.full(count, 0.5), ratio, rng.integers(models, size=count))


def lead_coverage(pairs: Pairs) -> Threshold:
    return threshold("lead_coverage", pairs)


def test_where_phones_gain_from_less_coverage_the_threshold_falls() -> None:
    found = lead_coverage(make_pairs(0.8))
    assert found.moved
    assert found.value == pytest.approx(0.8, abs=0.03)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 0.8 <= found.high + 0.03


def test_the_default_stays_where_the_data_agree_with_it() -> None:
    assert not lead_coverage(make_pairs(0.95)).moved


@pytest.mark.parametrize(("count", "models"), [(20, 20), (400, 3), (0, 1)])
def test_the_default_stays_where_data_are_thin(count: int, models: int) -> None:
    found = lead_coverage(make_pairs(0.8, count, models))
    assert (found.value, found.estimate, found.pairs) == (DEFAULT.lead_coverage, None, 0 if count < 20 else count)


def test_noise_alone_seldom_moves_the_default() -> None:
    moved = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        pairs = make_pairs(0.95, 120, 20, seed)
        moved.append(lead_coverage(replace(pairs, log_ratio=pairs.log_ratio + rng.standard_normal(120))).moved)
    assert np.mean(moved) <= 0.15


def test_only_graphs_that_a_delegate_took_in_part_count_with_the_cpu_beside_them() -> None:
    def row(arm: str, share: float, log_us: float) -> Rollup:
        return Rollup(Cell("class", "app", "faces", arm), "burst", False, 3, 3, log_us, delegated_share=share)

    rows = [
        row("int8.tflite.nnapi.mtk-neuron", 0.7, 8.0),
        row("int8.tflite.qnn", 1.0, 7.0),
        row("fp16.tflite.nnapi.mtk-neuron", 0.6, 7.0),
        row("int8.tflite.cpu", 0.0, 9.0),
    ]
    found = partial_pairs(rows, {"class": "soc"}, {("app", "faces"): 50.0})
    assert found.coverage == pytest.approx([0.7])
    assert found.log_ratio == pytest.approx([-1.0])
    assert found.cut_share == pytest.approx([2 * DEFAULT.cut_cost_ms / 50.0])
    assert len(partial_pairs(rows, {"class": "soc"}, {}).coverage) == 0


def cut_pairs(affordable_up_to: float, count: int = 300, seed: int = 0) -> Pairs:
    """Pairs in the middle of the coverage, whose accelerator pays while the cuts take so little of the run."""
    rng = np.random.default_rng(seed)
    cut_share = rng.uniform(0.0, 0.4, count)
    ratio = np.where(cut_share <= affordable_up_to, -0.7, 0.7) + 0.3 * rng.standard_normal(count)
    return Pairs(rng.uniform(0.75, 0.94, count), cut_share, ratio, rng.integers(30, size=count))


def test_the_alarm_on_cuts_is_estimated_too() -> None:
    found = threshold("cut_cost_share", cut_pairs(0.15))
    assert found.moved
    assert found.value == pytest.approx(0.15, abs=0.05)
    assert not threshold("cut_cost_share", cut_pairs(0.05)).moved


def test_below_which_coverage_the_cpu_runs_is_estimated_from_graphs_with_few_cuts() -> None:
    rng = np.random.default_rng(0)
    coverage = rng.uniform(0.3, 0.94, 400)
    ratio = np.where(coverage > 0.5, -0.7, 0.7) + 0.3 * rng.standard_normal(400)
    pairs = Pairs(coverage, np.full(400, 0.01), ratio, rng.integers(30, size=400))
    assert threshold("cpu_coverage", pairs).value == pytest.approx(0.5, abs=0.03)


def test_every_threshold_comes_with_its_interval_and_its_pairs() -> None:
    found = thresholds(make_pairs(0.8))
    assert set(found) == {"lead_coverage", "cpu_coverage", "cut_cost_share"}
    shown = found["lead_coverage"].to_json()
    assert shown["default"] == DEFAULT.lead_coverage
    assert shown["interval_95"][0] <= shown["estimate"] <= shown["interval_95"][1]
    assert all(each.estimate is None for each in thresholds(make_pairs(0.8, 20)).values())
