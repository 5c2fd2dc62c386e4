"""Which operations each NNAPI driver takes, by (operation, operand type).

`TESTED` are 31 operations. How many of them a driver takes in float32 and INT8 is published for a MediaTek MT6899, a
Google Tensor G4 and a Snapdragon SM8650 (m96-chan/DroidRunner: QNN-HTP 31|31, mtk-neuron 28|30, mtk-mdla 0|30,
mtk-dsp 10|19, google-edgetpu 0|29); which ones, for MT6899, in m96-chan/NxPU's operator matrix of the same phone.
Members of the list beyond that matrix, and every list of another driver, are assumed from the issues beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


def _ops(names: str) -> frozenset[str]:
    return frozenset(names.split())


TESTED: Final = _ops(
    "ADD SUB MUL MAXIMUM MINIMUM CONV_2D DEPTHWISE_CONV_2D TRANSPOSE_CONV FULLY_CONNECTED AVERAGE_POOL_2D MAX_POOL_2D "
    "MEAN SUM REDUCE_MAX REDUCE_MIN SOFTMAX LOGISTIC TANH RELU RELU6 PRELU HARD_SWISH CONCATENATION RESHAPE TRANSPOSE "
    "SPLIT PAD RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR STRIDED_SLICE SPACE_TO_DEPTH"
)
CONVERSIONS: Final = frozenset({"QUANTIZE", "DEQUANTIZE"})
MOVERS: Final = _ops("DEPTH_TO_SPACE SQUEEZE EXPAND_DIMS SPLIT_V SLICE LEAKY_RELU")
CLASSIC: Final = _ops(
    "ADD MUL SUB CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED AVERAGE_POOL_2D MAX_POOL_2D MEAN SOFTMAX LOGISTIC RELU RELU6 "
    "TANH CONCATENATION RESHAPE PAD RESIZE_BILINEAR"
)
"""What classification networks of 2018 needed: the core of older drivers."""

NEURON_FLOAT: Final = TESTED - {"SUM", "REDUCE_MAX", "REDUCE_MIN"}
NEURON_INT8: Final = TESTED - {"SUM"}
DSP_FLOAT: Final = _ops("ADD MUL SOFTMAX TANH CONCATENATION RESHAPE SPLIT PAD STRIDED_SLICE SPACE_TO_DEPTH")
DSP_INT8: Final = _ops(
    "ADD SUB MUL AVERAGE_POOL_2D MAX_POOL_2D REDUCE_MAX REDUCE_MIN SOFTMAX LOGISTIC TANH CONCATENATION RESHAPE SPLIT "
    "PAD STRIDED_SLICE SPACE_TO_DEPTH MAXIMUM MINIMUM RESIZE_NEAREST_NEIGHBOR"
)


@dataclass(frozen=True)
class OperatorSupport:
    """TFLite operations that a driver takes in float32 and in INT8."""

    float32: frozenset[str]
    int8: frozenset[str]

    @property
    def keys(self) -> frozenset[str]:
        """`OPERATION|activation type` of `policies.graph.Node.key`."""
        integer = self.int8 - {"QUANTIZE"}
        found = {f"{op}|float32" for op in self.float32} | {
            f"{op}|{kind}" for op in integer for kind in ("int8", "uint8")
        }
        # QUANTIZE reads float, so a float key stands for it; requantising reads int8.
        return frozenset(found | ({"QUANTIZE|float32", "QUANTIZE|int8"} if "QUANTIZE" in self.int8 else set()))


def _support(float32: frozenset[str], int8: frozenset[str]) -> OperatorSupport:
    return OperatorSupport(float32, int8)


_NONE: Final = frozenset[str]()

DRIVERS: Final[Mapping[str, OperatorSupport]] = MappingProxyType(
    {
        "qnn-htp": _support(
            TESTED | MOVERS | {"DIV", "GATHER", "BATCH_MATMUL"},
            TESTED | MOVERS | CONVERSIONS | {"GATHER", "BATCH_MATMUL"},
        ),
        "google-edgetpu": _support(_NONE, TESTED - {"SUM", "REDUCE_MIN"} | MOVERS | CONVERSIONS),
        # Pixel 10: ORT found it and it took nothing of a detector (microsoft/onnxruntime); reduced set assumed.
        "google-edgetpu-g5": _support(_NONE, CLASSIC - {"CONCATENATION", "RESIZE_BILINEAR"} | CONVERSIONS),
        "google-armnn": _support(CLASSIC | {"PRELU", "TRANSPOSE_CONV"}, CLASSIC | CONVERSIONS),
        "mtk-neuron": _support(
            NEURON_FLOAT | MOVERS | {"DIV", "GATHER"}, NEURON_INT8 | MOVERS | CONVERSIONS | {"GATHER", "BATCH_MATMUL"}
        ),
        "mtk-mdla": _support(_NONE, NEURON_INT8 | MOVERS | CONVERSIONS | {"BATCH_MATMUL"}),
        "mtk-dsp": _support(DSP_FLOAT | {"GATHER"}, DSP_INT8 | CONVERSIONS | {"GATHER", "BATCH_MATMUL"}),
        "mtk-gpu": _support(CLASSIC | {"PRELU", "TRANSPOSE"}, CLASSIC | CONVERSIONS | {"TRANSPOSE"}),
        # APU 3 and before, 1.3-service-mtk-neuron: assumed to lack what came with NNAPI 1.2 and 1.3.
        "mtk-neuron-old": _support(CLASSIC - {"RESIZE_BILINEAR"}, CLASSIC | CONVERSIONS),
        # Takes CONV_2D where qti-gpu and qti-hta refuse it (tensorflow/tensorflow#43541); 12 of 66 nodes of an
        # element-wise stencil (jttarigan/npu-stencil-offload, SM8250).
        "qti-default": _support(CLASSIC | {"PRELU"}, CLASSIC | CONVERSIONS | {"TRANSPOSE"}),
        "qti-dsp": _support(_NONE, CLASSIC | CONVERSIONS),
        "qti-gpu": _support(CLASSIC - {"MEAN", "TANH"}, _NONE),  # "qti-gpu has no int8" (mlperf/mobile_app#57)
        "qti-hta": _support(_NONE, CLASSIC - {"CONV_2D", "RESIZE_BILINEAR", "TANH"} | CONVERSIONS),
        "eden-drv": _support(CLASSIC | {"PRELU"}, CLASSIC | CONVERSIONS),
        "enn": _support(
            CLASSIC | {"PRELU", "TRANSPOSE_CONV", "HARD_SWISH"}, CLASSIC | CONVERSIONS | {"PRELU", "TRANSPOSE_CONV"}
        ),
        # "cannot do CONV_2D" on a Kirin 970 (tensorflow/tensorflow#24830).
        "ipuadaptor": _support(CLASSIC - {"CONV_2D", "MEAN", "SUB"}, _NONE),
        "liteadaptor": _support(CLASSIC | {"PRELU"}, CLASSIC - {"MEAN", "SUB", "TANH"} | CONVERSIONS),
        # UNISOC T820: NPU through NNAPI, INT8 best (public vendor note); set assumed.
        "unisoc-npu": _support(CLASSIC - {"MEAN"}, CLASSIC | CONVERSIONS | {"PRELU"}),
        "nnapi-reference": _support(_NONE, _NONE),  # a CPU: no operation counts as taken
    }
)
"""Operation support by driver. Keys are canonical driver names, with a suffix where generations differ."""

GPU_DELEGATE: Final = OperatorSupport(
    TESTED
    | MOVERS
    | {"DIV", "ABS", "EXP", "LOG", "RSQRT", "SQRT", "POW", "CUSTOM:Convolution2DTransposeBias", "DENSIFY"},
    TESTED | CONVERSIONS | {"DEPTH_TO_SPACE", "SPLIT_V", "LEAKY_RELU"} - {"SUM", "REDUCE_MAX", "REDUCE_MIN"},
)
"""TFLite's GPU delegate. Source: operations named in LiteRT's gpu/common/model_builder.cc; INT8 part assumed."""

NNAPI_NAMES: Final = MappingProxyType(
    {
        "SUM": "REDUCE_SUM",
        "TRANSPOSE_CONV": "TRANSPOSE_CONV_2D",
        "LEAKY_RELU": "PRELU",
        "SPLIT_V": "SPLIT",
    }
)
"""TFLite operations whose NNAPI operation has another name. Source: LiteRT's nnapi_delegate.cc."""

NNAPI_SINCE: Final = MappingProxyType(
    {
        **dict.fromkeys(("DIV", "MEAN", "PAD", "SQUEEZE", "STRIDED_SLICE", "SUB", "TRANSPOSE"), 2),
        **dict.fromkeys(
            ("EXPAND_DIMS", "GATHER", "MAXIMUM", "MINIMUM", "PRELU", "QUANTIZE", "REDUCE_MAX", "REDUCE_MIN"), 3
        ),
        **dict.fromkeys(("REDUCE_SUM", "RESIZE_NEAREST_NEIGHBOR", "SLICE", "SPLIT", "TRANSPOSE_CONV_2D"), 3),
        "HARD_SWISH": 4,
        "BATCH_MATMUL": 6,
    }
)
"""NNAPI operation → first feature level, where it is not 1. Source: AOSP NeuralNetworksTypes.h."""

FLOAT_TYPE: Final = "TENSOR_FLOAT32"
UNSIGNED_TYPE: Final = "TENSOR_QUANT8_ASYMM"
SIGNED_TYPE: Final = "TENSOR_QUANT8_ASYMM_SIGNED"
SIGNED_SINCE: Final = 4


def at_level(support: OperatorSupport, level: int) -> OperatorSupport:
    """What a driver of the NNAPI feature level can take: operations that came later are not asked of it."""

    def known(ops: frozenset[str]) -> frozenset[str]:
        return frozenset(op for op in ops if NNAPI_SINCE.get(nnapi_name(op), 1) <= level)

    return OperatorSupport(known(support.float32), known(support.int8))


def nnapi_name(op: str) -> str:
    """Name of the NNAPI operation behind a TFLite operation."""
    return NNAPI_NAMES.get(op, op)


def reported(support: OperatorSupport, level: int) -> dict[str, list[str]]:
    """What a probe finds: NNAPI operation → operand types, sorted. INT8 is signed from level 4 on."""
    integer = [UNSIGNED_TYPE, SIGNED_TYPE] if level >= SIGNED_SINCE else [UNSIGNED_TYPE]
    found: dict[str, set[str]] = {}
    for op in support.float32:
        found.setdefault(nnapi_name(op), set()).add(FLOAT_TYPE)
    for op in support.int8:
        types = [FLOAT_TYPE] if op == "QUANTIZE" else integer
        found.setdefault(nnapi_name(op), set()).update(types)
    return {op: sorted(types) for op, types in sorted(found.items())}
