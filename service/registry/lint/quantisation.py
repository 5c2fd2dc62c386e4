"""Quantisation parameters that cannot be right, from LiteRT's quantisation specification and what its kernels check."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from service.registry.lint.remark import Remark, Weight, operation_at, tensor_at
from service.registry.model_file import ModelFile, Quantization, Tensor

RANGE: Final = MappingProxyType(
    {
        "int8": (-128, 127),
        "uint8": (0, 255),
        "int16": (-32_768, 32_767),
        "int4": (-8, 7),
        "int32": (-(2**31), 2**31 - 1),
    }
)
"""What a zero point may be: a value that the type can store."""

SYMMETRIC: Final = frozenset({"int16", "int4"})
"""Types whose zero point is always 0."""
QUANTISED: Final = frozenset({"int8", "uint8", "int16"})

KEEPS_SCALE: Final = frozenset(
    {
        *("AVERAGE_POOL_2D", "BATCH_TO_SPACE_ND", "DEPTH_TO_SPACE", "GATHER", "MAX_POOL_2D", "RESHAPE"),
        *("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SLICE", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SQUEEZE"),
        *("STRIDED_SLICE", "TRANSPOSE"),
    }
)
"""Operations that pass values on: input and output have one scale and zero point."""


def impossible(model: ModelFile) -> Iterator[Remark]:
    """Scales that no arithmetic bears, zero points outside their type, counts that fit no channel."""
    for number, tensor in enumerate(model.tensors):
        if tensor.quantization is not None:
            for what in _faults(tensor, tensor.quantization):
                yield Remark("quantisation-impossible", Weight.ERROR, tensor_at(model, number), what)


def _faults(tensor: Tensor, stated: Quantization) -> Iterator[str]:
    if any(not math.isfinite(scale) or scale <= 0 for scale in stated.scales):
        yield "a scale is zero, negative or no number: convert the model anew"
    least, most = RANGE.get(tensor.dtype, (-math.inf, math.inf))
    if any(not least <= point <= most for point in stated.zero_points):
        yield f"a zero point is outside {tensor.dtype}: convert the model anew"
    elif tensor.dtype in SYMMETRIC and any(stated.zero_points):
        yield f"{tensor.dtype} is symmetric: its zero point has to be 0"
    if len(stated.scales) > 1 and not _per_channel(tensor, stated):
        yield "there are not as many scales as channels: convert the model anew"


def _per_channel(tensor: Tensor, stated: Quantization) -> bool:
    fits = 0 <= stated.axis < len(tensor.shape) and tensor.shape[stated.axis] == len(stated.scales)
    return fits and len(stated.zero_points) in {0, 1, len(stated.scales)}


def missing(model: ModelFile) -> Iterator[Remark]:
    """Computed whole numbers of a type that stands for real ones, without a scale."""
    if not any(tensor.quantization for tensor in model.tensors):
        return
    for position, node in enumerate(model.graph.nodes):
        for number in node.outputs:
            tensor = model.tensors[number]
            if tensor.dtype in QUANTISED and tensor.quantization is None:
                advice = f"{operation_at(model, position)} computes {tensor.dtype} without a scale: quantise it, or keep it float"
                yield Remark("quantisation-missing", Weight.ERROR, tensor_at(model, number), advice)


def asymmetric_weights(model: ModelFile) -> Iterator[Remark]:
    """INT8 weights with a zero point: LiteRT's kernels refuse them, or read them as if it were 0."""
    for position, number in model.weights.items():
        stated = model.tensors[number].quantization
        if model.tensors[number].dtype == "int8" and stated is not None and any(stated.zero_points):
            advice = (
                f"the weights of {operation_at(model, position)} need the zero point 0: quantise them symmetrically"
            )
            yield Remark("weights-not-symmetric", Weight.ERROR, tensor_at(model, number), advice)


def scales_that_differ(model: ModelFile) -> Iterator[Remark]:
    """Operations that pass values on and still change their scale: XNNPACK and NNAPI refuse them."""
    for position, node in enumerate(model.graph.nodes):
        if node.op in KEEPS_SCALE and node.activation in QUANTISED and node.inputs and node.outputs:
            before, after = (model.tensors[side[0]].quantization for side in (node.inputs, node.outputs))
            if before is not None and after is not None and before != after:
                advice = "it only passes values on: give its input and output one scale and zero point"
                yield Remark("scales-differ", Weight.WARNING, operation_at(model, position), advice)
