"""Where one driver of a phone throttles, a lab is asked to heat its neighbours: phones will not."""

from __future__ import annotations

import numpy as np
from fleets import DEVICES, DRIVER, MODELS, changing, healthy_fleet, planted, window_rollup

from ml.findings import find
from ml.findings.lab import CELLS, Soak, soaks
from ml.rollup import Rollup

GPU = "fp16.tflite.gpu"
SOC_OF = {name: device.soc for name, device in DEVICES.items()}


def gpu_windows(soc: str, model: str, *, hot: bool = False, factor: float = 1.0, windows: int = 2) -> Rollup:
    return window_rollup(soc, model, GPU, hot=hot, windows=windows, log_p50_us=float(np.log(9_000 * factor)))


def throttling_fleet() -> list[Rollup]:
    """The NPU of one SoC throttles; its GPU was run a few times, and never hot."""
    rows = healthy_fleet(np.random.default_rng(0))
    rows = planted(rows, "soc-3", DRIVER, changing(log_p50_us=lambda r: r.log_p50_us + np.log(1.8) * r.hot))
    gpu = [
        gpu_windows(soc, model, windows=number + 1)
        for soc in SOC_OF.values()
        for number, model in enumerate(MODELS[:4])
    ]
    return [*rows, *gpu]


def test_the_most_used_models_of_the_other_drivers_are_asked_for() -> None:
    rows = throttling_fleet()
    asked = soaks(find(rows, DEVICES), rows, SOC_OF)
    assert asked == [Soak("soc-3", "app", model, GPU) for model in MODELS[2:4]]
    assert len(asked) == CELLS


def test_what_the_lab_measured_is_found_and_not_asked_for_again() -> None:
    rows = throttling_fleet()
    rows += [gpu_windows("soc-3", model, hot=True, factor=1.8) for model in MODELS[2:4]]
    findings = find(rows, DEVICES)
    assert {(f.soc, f.target) for f in findings if f.name == "thermal-step"} == {
        ("soc-3", "nnapi.mtk-neuron"),
        ("soc-3", "gpu"),
    }
    assert soaks(findings, rows, SOC_OF) == []


def test_a_fleet_that_stays_cool_asks_for_nothing() -> None:
    rows = healthy_fleet(np.random.default_rng(1))
    assert soaks(find(rows, DEVICES), rows, SOC_OF) == []
