"""The precision class of a model, read from its tensors: what the weights are stored in, what the maths runs in."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Final

from policies.vocabulary import Precision

WEIGHTS_INPUT: Final = MappingProxyType(
    {
        "CONV_2D": 1,
        "DEPTHWISE_CONV_2D": 1,
        "FULLY_CONNECTED": 1,
        "TRANSPOSE_CONV": 1,
        "CONV_3D": 1,
        "CONV_3D_TRANSPOSE": 1,
        "BATCH_MATMUL": 1,
        "EMBEDDING_LOOKUP": 1,
        "RNN": 1,
        "SVDF": 1,
        "LSTM": 2,
        "UNIDIRECTIONAL_SEQUENCE_LSTM": 2,
        "UNIDIRECTIONAL_SEQUENCE_RNN": 1,
        "BIDIRECTIONAL_SEQUENCE_LSTM": 2,
        "BIDIRECTIONAL_SEQUENCE_RNN": 1,
    }
)
"""Which input holds the weights. LSTM: the second matrix, as the first is optional."""

WIDTH: Final = MappingProxyType(
    {"float32": "f32", "float16": "f16", "int8": "i8", "uint8": "i8", "int16": "i16", "int4": "i4"}
)

CLASS_OF: Final = MappingProxyType(
    {
        ("f32", "f32"): Precision.FP32,
        ("f32", "f16"): Precision.FP16,
        ("f16", "f16"): Precision.FP16,
        ("f16", "f32"): Precision.FP16,
        ("i8", "i8"): Precision.INT8,
        ("f32", "i8"): Precision.INT8_DYNAMIC,
        ("i16", "i8"): Precision.INT16X8,
        ("i16", "i4"): Precision.INT16X4,
    }
)
"""(activation, weights) of one operation → its class; any other pair is MIXED."""

ABSORBED: Final = MappingProxyType(
    {
        frozenset({Precision.FP16, Precision.FP32}): Precision.FP16,
        frozenset({Precision.INT8_DYNAMIC, Precision.FP32}): Precision.INT8_DYNAMIC,
        frozenset({Precision.INT8, Precision.INT16X8}): Precision.MIXED_INT16,
    }
)
"""Converters leave small weights in float32: a few such operations do not change the class."""

_FLOAT = frozenset({Precision.FP32, Precision.FP16, Precision.INT8_DYNAMIC})
_QUANTISED = frozenset({Precision.INT8, Precision.INT16X8, Precision.INT16X4})


def precision_class(weighted: Iterable[tuple[str, str]], activations: Iterable[str]) -> Precision:
    """Class from (activation, weights) types of the operations with weights.

    Where there are none, the types of the computed tensors decide: 8-bit before 16-bit before float.
    """
    classes = frozenset(
        CLASS_OF.get((WIDTH.get(activation, ""), WIDTH.get(weights, "")), Precision.MIXED)
        for activation, weights in weighted
    )
    if not classes:
        return _by_activations(frozenset(WIDTH.get(activation, "") for activation in activations))
    if len(classes) == 1:
        return next(iter(classes))
    if classes in ABSORBED:
        return ABSORBED[classes]
    return Precision.MIXED_FLOAT if classes & _FLOAT and classes & _QUANTISED else Precision.MIXED


def _by_activations(widths: frozenset[str]) -> Precision:
    for width, precision in (("i8", Precision.INT8), ("i16", Precision.INT16X8), ("f16", Precision.FP16)):
        if width in widths:
            return precision
    return Precision.FP32
