"""The words of the field, typed: precisions, runtimes, delegates, feature levels, operand types.

Feature levels are from AOSP `NeuralNetworksTypes.h`; HAL and AIDL names from `LegacyUtils.h` and the
AIDL utilities of `hardware/interfaces/neuralnetworks`.
"""

from __future__ import annotations

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


class Runtime(StrEnum):
    """The library that loads the file."""

    LITERT = "litert"
    ONNXRUNTIME = "onnxruntime"
    QNN = "qnn"
    PYTORCH = "pytorch"
    NNAPI_GRAPH = "nnapi-graph"


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


class AcceleratorType(StrEnum):
    """`ANeuralNetworksDevice_getType`, in words."""

    ACCELERATOR = "accelerator"
    GPU = "gpu"
    CPU = "cpu"
    OTHER = "other"


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


def feature_level(raw: int | None) -> int | None:
    """Level 1…8 of a raw feature-level value, or None where the value is not one that NNAPI defines.

    `4` or `"1.3"` are ambiguous (a short level? an API level? a HAL version?) and stay unknown.
    """
    if raw is None or raw not in FEATURE_LEVEL_VALUES:
        return None
    return FEATURE_LEVEL_VALUES.index(raw) + 1
