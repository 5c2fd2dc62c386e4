"""Faults that the field reports, on stated classes of phones.

Each fault names SoCs, Android versions, editions, a driver and a precision: the cohort that a detector should find, no wider.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from ml.fleet.assumptions import FAST_PREFERENCE_FACTOR, IGNORED_ZERO_POINT_ERROR, PHANTOM_FACTOR
from ml.fleet.editions import NEW_SIBLING, TFLITE_UPDATE, USUAL, Edition
from ml.fleet.truth import Truth

THERMAL_STEP_FACTOR: Final = 1.8
"""10 → 18 ms after five hot minutes (NNAPI field guide)."""
MODERATE: Final = 2
TFLITE_UPDATE_FACTOR: Final = 2.0
"""CPU time since TensorFlow Lite 2.12 against 2.11 (google-ai-edge/LiteRT#91, of some models)."""


@dataclass(frozen=True)
class ArmOnPhone:
    """What a fault looks at: the phone's SoC, API level and edition, the arm's parts, the operations of its graph."""

    soc: str
    api: int
    edition: Edition
    precision: str
    delegate: str
    accelerator: str | None
    operations: frozenset[str]
    cpu_us: float


Effect = Callable[[Truth, ArmOnPhone], Truth]


@dataclass(frozen=True)
class Fault:
    """A fault and its cohort. Empty sets mean "any". `phones`: how many phones of a fleet are of its classes."""

    name: str
    description: str
    source: str
    socs: frozenset[str]
    effect: Effect
    accelerators: frozenset[str] = frozenset()
    delegates: frozenset[str] = frozenset({"nnapi"})
    apis: frozenset[int] = frozenset()
    editions: frozenset[Edition] = frozenset()
    precisions: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset()
    phones: int = 0

    def on_class(self, soc: str, api: int, edition: Edition = USUAL) -> bool:
        """Whether phones of this SoC, Android version and edition have the fault."""
        apis, editions = self.apis or {api}, self.editions or {edition}
        return soc in self.socs and api in apis and edition in editions

    def hits(self, arm: ArmOnPhone) -> bool:
        """Whether the arm meets the fault there."""
        return (
            self.on_class(arm.soc, arm.api, arm.edition)
            and arm.delegate in self.delegates
            and (not self.accelerators or arm.accelerator in self.accelerators)
            and (not self.precisions or arm.precision in self.precisions)
            and self.operations <= arm.operations
        )


def _runs_on_the_cpu(truth: Truth, arm: ArmOnPhone) -> Truth:
    """The driver claims what it claims and computes on the CPU; an arm of which it takes nothing is as slow anyway."""
    if not truth.delegated_nodes:
        return truth
    return replace(truth, steady_us=max(truth.steady_us, arm.cpu_us * PHANTOM_FACTOR))


def _ignores_zero_points(truth: Truth, _arm: ArmOnPhone) -> Truth:
    if not truth.delegated_nodes:
        return truth
    return replace(truth, golden_passes=False, golden_error=IGNORED_ZERO_POINT_ERROR)


def _throttles(truth: Truth, _arm: ArmOnPhone) -> Truth:
    if not truth.delegated_nodes:
        return truth
    return replace(truth, hot_factor=THERMAL_STEP_FACTOR / FAST_PREFERENCE_FACTOR, hot_status=MODERATE)


def _kills_the_process(truth: Truth, _arm: ArmOnPhone) -> Truth:
    return replace(truth, failure="process_died") if truth.delegated_nodes else truth


def _never_returns(truth: Truth, _arm: ArmOnPhone) -> Truth:
    return replace(truth, failure="timeout")


def _is_refused(truth: Truth, _arm: ArmOnPhone) -> Truth:
    return replace(truth, failure="compile_failed")


def _runs_slower(truth: Truth, _arm: ArmOnPhone) -> Truth:
    return replace(truth, steady_us=truth.steady_us * TFLITE_UPDATE_FACTOR)


FAULTS: Final = (
    Fault(
        "phantom-accelerator",
        "The driver `enn` claims whole graphs and computes them on the CPU.",
        "kind: google-ai-edge/LiteRT#7891, #7858; class assumed",
        frozenset({"exynos-1380", "exynos-1480"}),
        _runs_on_the_cpu,
        frozenset({"enn"}),
    ),
    Fault(
        "int8-wrong-output",
        "The driver ignores zero points: INT8 outputs are wrong, F1 0.71 where another driver gives 0.83.",
        "kind: NNAPI field guide, microsoft/onnxruntime#9039 (Redmi Note 9); class assumed",
        frozenset({"mt6833", "mt6853"}),
        _ignores_zero_points,
        frozenset({"mtk-neuron"}),
        apis=frozenset({30, 31}),
        precisions=frozenset({"int8"}),
    ),
    Fault(
        "thermal-step",
        "After five hot minutes the accelerator and the GPU slow down by 1.8 in one step.",
        "microsoft/MegaDetector#34 (Tensor G3: 196 → 400 ms), NNAPI field guide (10 → 18 ms)",
        frozenset({"tensor-g1", "tensor-g2", "tensor-g3"}),
        _throttles,
        frozenset({"google-edgetpu", "google-armnn"}),
    ),
    Fault(
        "thermal-step-gpu",
        "The same phones' GPU delegate, under the same heat.",
        "microsoft/MegaDetector#34; that the GPU shares the step is assumed",
        frozenset({"tensor-g1", "tensor-g2", "tensor-g3"}),
        _throttles,
        delegates=frozenset({"gpu"}),
    ),
    Fault(
        "driver-crash",
        "Compiling a real model through `mtk-neuron` aborts the process (SIGABRT), though the probe's small graph compiles.",
        "RisorseArtificiali/anti-vocale#26 (Dimensity 7300)",
        frozenset({"mt6878"}),
        _kills_the_process,
        frozenset({"mtk-neuron"}),
    ),
    Fault(
        "int8-concat-crash",
        "Compiling an INT8 graph with a CONCATENATION through `qti-default` kills the process on Android 12.",
        "tensorflow/tensorflow#57555 (Snapdragon 888)",
        frozenset({"sm8350"}),
        _kills_the_process,
        frozenset({"qti-default"}),
        apis=frozenset({31}),
        precisions=frozenset({"int8"}),
        operations=frozenset({"CONCATENATION"}),
    ),
    Fault(
        "gpu-hang",
        "The GPU delegate never returns.",
        "google-ai-edge/gallery#280 (Tensor G5, language model); that other models hang too is assumed",
        frozenset({"tensor-g5"}),
        _never_returns,
        delegates=frozenset({"gpu"}),
    ),
    Fault(
        "sibling-refused",
        "QNN does not know the number of a chip's newer sibling and refuses every graph there.",
        "kind: microsoft/onnxruntime-qnn#715 (SM8750P, number 639), pytorch/executorch#21586; class assumed",
        frozenset({"sm8550"}),
        _is_refused,
        delegates=frozenset({"qnn"}),
        editions=frozenset({Edition(soc_id=NEW_SIBLING)}),
    ),
    Fault(
        "runtime-update",
        "Half of the phones have a newer TensorFlow Lite, which takes twice as long on the CPU.",
        "google-ai-edge/LiteRT#91 (2.11 → 2.12, some models); that all models do, and the class, are assumed",
        frozenset({"mt6768"}),
        _runs_slower,
        delegates=frozenset({"cpu"}),
        editions=frozenset({Edition(tflite=TFLITE_UPDATE)}),
    ),
)
"""Every fault a fleet has."""
