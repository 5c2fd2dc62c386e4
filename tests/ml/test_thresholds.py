"""The coverage threshold follows the fleet's data where there are enough, and stays where there are not (R-C3)."""

from __future__ import annotations

import numpy as np
import pytest

from ml.rollup import Cell, Rollup
from ml.thresholds import DEFAULT_LEAD, Pairs, lead_coverage, partial_pairs


def make_pairs(breaks_even_at: float, count: int = 400, models: int = 40, seed: int = 0) -> Pairs:
    """Pairs whose accelerator is 3 × as fast as the CPU above a coverage and 3 × as slow below."""
    rng = np.random.default_rng(seed)
    coverage = rng.uniform(0.5, 1.0, count)
    ratio = np.where(coverage >= breaks_even_at, -1.1, 1.1) + 0.3 * rng.standard_normal(count)
    return Pairs(coverage, ratio, rng.integers(models, size=count))


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
    assert (found.value, found.estimate, found.pairs) == (DEFAULT_LEAD, None, count)


def test_noise_alone_seldom_moves_the_default() -> None:
    moved = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        pairs = make_pairs(0.95, 120, 20, seed)
        moved.append(
            lead_coverage(Pairs(pairs.coverage, pairs.log_ratio + rng.standard_normal(120), pairs.model)).moved
        )
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
    found = partial_pairs(rows, {"class": "soc"})
    assert found.coverage == pytest.approx([0.7])
    assert found.log_ratio == pytest.approx([-1.0])
