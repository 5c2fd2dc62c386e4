"""The words of the field, typed: precisions, runtimes, delegates, feature levels, operand types.

Feature levels are from AOSP `NeuralNetworksTypes.h`; HAL and AIDL names from `LegacyUtils.h` and the
AIDL utilities of `hardware/interfaces/neuralnetworks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Precision(StrEnum):
    """Number format of a variant, read from its tensors (never from the file's name)."""

    FP32 = "fp32"
    FP16 = "fp16"
    INT8 = "int8"
    INT8_DYNAMIC = "int8-dynamic"
    INT16X8 = "int16x8"
    INT16X8_MIXED = "int16x8-mixed"
    INT16X8_MIXED_FLOAT = "int16x8-mixed-float"
    INT16X4 = "int16x4"
    MIXED = "mixed"
    MIXED_INT16 = "mixed-int16"
    MIXED_FLOAT = "mixed-float"


FLOATS: Final = frozenset({Precision.FP16, Precision.FP32, Precision.MIXED_FLOAT, Precision.INT16X8_MIXED_FLOAT})
"""Precisions that need an accelerator which computes in floating point."""


class Runtime(StrEnum):
    """The library that loads the file."""

    LITERT = "litert"
    ONNXRUNTIME = "onnxruntime"
    QNN = "qnn"
    PYTORCH = "pytorch"


class Format(StrEnum):
    """The kind of file a variant is."""

    TFLITE = "tflite"
    ONNX = "onnx"
    DLC = "dlc"
    QNN_CONTEXT = "qnn-context"
    ONNX_EPCONTEXT = "onnx-epcontext"
    PTL = "ptl"
    PTE = "pte"


class Delegate(StrEnum):
    """The runtime part that takes over a piece of the graph."""

    CPU = "cpu"
    GPU = "gpu"
    NNAPI = "nnapi"
    QNN = "qnn"
    NEURON = "neuron"
    HIAI = "hiai"
    ENN = "enn"
    EDGETPU = "edgetpu"


VENDOR_DELEGATES: Final = (Delegate.QNN, Delegate.NEURON, Delegate.HIAI, Delegate.ENN, Delegate.EDGETPU)
"""Vendor NPUs reached without NNAPI: equals of it."""

RUNTIME_OF_FORMAT: Final = MappingProxyType(
    {
        Format.TFLITE: Runtime.LITERT,
        Format.ONNX: Runtime.ONNXRUNTIME,
        Format.ONNX_EPCONTEXT: Runtime.ONNXRUNTIME,
        Format.DLC: Runtime.QNN,
        Format.QNN_CONTEXT: Runtime.QNN,
        Format.PTL: Runtime.PYTORCH,
        Format.PTE: Runtime.PYTORCH,
    }
)


class ExecutionPreference(StrEnum):
    """`ANEURALNETWORKS_PREFER_*`: what a driver compiles for."""

    LOW_POWER = "low_power"
    FAST_SINGLE_ANSWER = "fast_single_answer"
    SUSTAINED_SPEED = "sustained_speed"


class Priority(StrEnum):
    """`ANEURALNETWORKS_PRIORITY_*`: whose executions go first where apps share a driver (NNAPI 1.3)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Workaround(StrEnum):
    """What an app does for a driver that cannot be left to itself."""

    SERIALISE_EXECUTIONS = "serialise_executions"
    KEEP_MODEL_ALIVE = "keep_model_alive"
    PREPROCESS_ON_CPU = "preprocess_on_cpu"


class Workload(StrEnum):
    """How an app runs a model: single answers now and then, or frame after frame."""

    BURST = "burst"
    SUSTAINED = "sustained"


class ThermalStatus(StrEnum):
    """`PowerManager.THERMAL_STATUS_*`, in order of heat."""

    NONE = "none"
    LIGHT = "light"
    MODERATE = "moderate"
    SEVERE = "severe"
    CRITICAL = "critical"
    EMERGENCY = "emergency"
    SHUTDOWN = "shutdown"


FEATURE_LEVEL_VALUES: Final = (27, 28, 29, 30, 31, 1_000_006, 1_000_007, 1_000_008)
"""Raw value of NNAPI feature level 1…8. From level 6 on the value has no link to the Android API level."""

MIN_NNAPI_LEVEL: Final = 3
"""NNAPI below 1.2 (level 3, raw 29) is not used: no named accelerators, no compilation cache."""


class LevelEncoding(StrEnum):
    """How a report counts feature levels: NNAPI's raw values, 1 to 8, or versions of the HAL (`1.3`, then `AIDL v1`)."""

    RAW = "raw"
    LEVEL = "level"
    HAL = "hal"


_LEVELS: Final[Mapping[LevelEncoding, Mapping[str, int]]] = {
    LevelEncoding.RAW: {str(raw): level for level, raw in enumerate(FEATURE_LEVEL_VALUES, start=1)},
    LevelEncoding.LEVEL: {str(level): level for level in range(1, len(FEATURE_LEVEL_VALUES) + 1)},
    LevelEncoding.HAL: {
        name: level
        for level, name in enumerate(
            ("1.0", "1.1", "1.2", "1.3", "aidl v1", "aidl v2", "aidl v3", "aidl v4"), start=1
        )
    },
}  # fmt: skip


def feature_level(raw: object, encoding: str = LevelEncoding.RAW) -> int | None:
    """Level 1…8 of a feature level as a report has it, or None where it is none in that encoding.

    Unless another encoding is stated, `4` or `"1.3"` are ambiguous (a short level? an API level? a HAL version?) and
    stay unknown.
    """
    number = int(raw) if isinstance(raw, float) and raw.is_integer() and encoding != LevelEncoding.HAL else raw
    known = next((levels for kind, levels in _LEVELS.items() if kind == encoding.strip().lower()), {})
    return known.get(str(number).strip().lower())
