"""Measured phones: the published row is the truth, and an arm without one does not exist, CPU and GPU apart."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from ml.fleet.aihub import COMPILED_FORMATS, AiHubModel, Row
from ml.fleet.assumptions import GOLDEN_ERROR, SUSTAINED_FACTOR
from ml.fleet.truth import Truth

CPU_AGAINST_NPU: Final = 4.46 / 1.22
GPU_AGAINST_NPU: Final = 4.95 / 1.22
FLOAT_AGAINST_INTEGER: Final = 2.78 / 1.22
"""Latency on CPU and GPU against the chip's fastest measured arm of the same arithmetic, and of float against integer
where only one of them was measured. AI Hub has no rows for CPU and GPU, and a ladder's last rung must work. Source:
EfficientNet-Lite0 on SM8650 (m96-chan/DroidRunner); that all models behave so is assumed."""
_FLOAT: Final = frozenset({"fp32", "fp16"})

_EXECUTORS: Final = {
    "tflite": "TfLiteQnnDelegate",
    "onnx": "QNNExecutionProvider",
    "onnx-epcontext": "QNNExecutionProvider",
    "dlc": "QnnHtp",
    "qnn-context": "QnnHtp",
}
_FLOOR_EXECUTORS: Final = {"cpu": "TfLiteXNNPackDelegate", "gpu": "TfLiteGpuDelegateV2"}
_ONNX_CPU: Final = "CPUExecutionProvider"
_FLOOR_FORMATS: Final = {"tflite": ("cpu", "gpu"), "onnx": ("cpu",)}

# Start: compiling on the phone against loading a finished binary, milliseconds and per million parameters. Assumed.
_JIT_MS: Final = (250.0, 18.0)
_JIT_CACHED_SHARE: Final = 0.2
_AOT_MS: Final = (15.0, 1.5)
_FLOOR_MS: Final = {"cpu": (6.0, 0.5), "gpu": (500.0, 4.0)}
_LOAD_US: Final = 600.0
_LOAD_US_PER_MPARAM: Final = 150.0
_FIRST_RUN_US: Final = 2500.0
_FIRST_RUN_FACTOR: Final = 1.8
_LIGHT: Final = 1
_FLOOR_KB: Final = 40_000
_DEFAULT_GOLDEN_ERROR: Final = 2e-3


class MeasuredBench:
    """Truth of every arm of the given models on one AI Hub chipset."""

    def __init__(self, chipset: str, models: Iterable[AiHubModel]) -> None:
        self.chipset = chipset
        self._models = {(model.app, model.name): model for model in models if chipset in model.rows}
        self._truths: dict[tuple[str, str, str], Truth | None] = {}

    @cached_property
    def models(self) -> tuple[tuple[str, str], ...]:
        """(app, model) of every model that has an acceptable arm here."""
        return tuple(sorted(key for key in self._models if self._serves(*key)))

    def _serves(self, app: str, model: str) -> bool:
        truths = (self.truth(app, model, arm) for arm in self.arms(app, model))
        return any(truth is not None and truth.acceptable for truth in truths)

    def arms(self, app: str, model: str) -> tuple[str, ...]:
        """Measured arms, then the CPU and GPU arms of the files that a phone can run without the NPU."""
        known = self._models.get((app, model))
        if known is None:
            return ()
        return (*sorted(known.rows[self.chipset]), *_floors(known))

    def truth(self, app: str, model: str, arm: str) -> Truth | None:
        """Behaviour of the arm; None where neither a row nor a file for CPU or GPU exists."""
        key = (app, model, arm)
        if key not in self._truths:
            known = self._models.get((app, model))
            self._truths[key] = None if known is None else self._truth(known, arm)
        return self._truths[key]

    def _truth(self, model: AiHubModel, arm: str) -> Truth | None:
        rows = model.rows[self.chipset]
        if arm in rows:
            return _measured(model, rows[arm])
        return _floor(model, arm, rows.values()) if arm in _floors(model) else None


def _floors(model: AiHubModel) -> tuple[str, ...]:
    found = sorted(model.variants)
    return tuple(
        f"{precision}.{kind}.{delegate}" for precision, kind in found for delegate in _FLOOR_FORMATS.get(kind, ())
    )


def _measured(model: AiHubModel, row: Row) -> Truth:
    precision, kind, _delegate = row.arm.split(".")
    compiled = kind in COMPILED_FORMATS
    compile_us = _start_us(_AOT_MS if compiled else _JIT_MS, model)
    on_npu = row.compute_unit == "NPU"
    return _truth(
        model,
        precision,
        row.latency_ms,
        executed_by=f"{_EXECUTORS[kind]}:{'htp' if on_npu else row.compute_unit.lower()}",
        delegated=row.delegated,
        total=row.layers,
        compile_us=compile_us,
        cached_us=compile_us if compiled else compile_us * _JIT_CACHED_SHARE,
        memory_kb=int(row.memory_mb * 1024),
        accuracy_drop=model.variants[precision, kind].accuracy_drop,
    )


def _fastest_ms(rows: Iterable[Row], *, in_float: bool) -> float:
    """Latency of the fastest measured arm that computes in float, or in integers; scaled from the other kind if need be."""
    same: list[float] = []
    other: list[float] = []
    for row in rows:
        (same if (row.arm.split(".")[0] in _FLOAT) == in_float else other).append(row.latency_ms)
    return min(same) if same else min(other) * (FLOAT_AGAINST_INTEGER if in_float else 1 / FLOAT_AGAINST_INTEGER)


def _floor(model: AiHubModel, arm: str, rows: Iterable[Row]) -> Truth:
    precision, kind, delegate = arm.split(".")
    fastest_ms = _fastest_ms(rows, in_float=precision in _FLOAT)
    compile_us = _start_us(_FLOOR_MS[delegate], model)
    return _truth(
        model,
        precision,
        fastest_ms * (CPU_AGAINST_NPU if delegate == "cpu" else GPU_AGAINST_NPU),
        executed_by=_ONNX_CPU if kind == "onnx" else _FLOOR_EXECUTORS[delegate],
        delegated=0,
        total=0,
        compile_us=compile_us,
        cached_us=compile_us,
        memory_kb=_FLOOR_KB,
        accuracy_drop=model.variants[precision, kind].accuracy_drop,
    )


def _truth(  # noqa: PLR0913 - the columns of one record
    model: AiHubModel,
    precision: str,
    latency_ms: float,
    *,
    executed_by: str,
    delegated: int,
    total: int,
    compile_us: float,
    cached_us: float,
    memory_kb: int,
    accuracy_drop: float | None,
) -> Truth:
    return Truth(
        executed_by=executed_by,
        delegated_nodes=delegated,
        total_nodes=total,
        partitions=1 if delegated == total else 3,
        steady_us=latency_ms * 1e3,
        hot_factor=SUSTAINED_FACTOR,
        hot_status=_LIGHT,
        load_us=_LOAD_US + _LOAD_US_PER_MPARAM * model.params / 1e6,
        compile_cold_us=compile_us,
        compile_cached_us=cached_us,
        first_run_us=_FIRST_RUN_US + _FIRST_RUN_FACTOR * latency_ms * 1e3,
        golden_error=GOLDEN_ERROR.get(precision, _DEFAULT_GOLDEN_ERROR),
        memory_kb=memory_kb,
        accurate=accuracy_drop is None or accuracy_drop <= model.max_accuracy_drop,
    )


def _start_us(cost_ms: tuple[float, float], model: AiHubModel) -> float:
    base, per_million = cost_ms
    return 1e3 * (base + per_million * model.params / 1e6)
