"""Multiply-accumulates of one operation, from the shapes of its tensors.

The operations that multiply by weights are counted as the field does (He et al., MobileNet papers): output
elements × work per output element. All else that computes counts one per output element; moving data counts 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Final

Shape = tuple[int, ...]
Count = Callable[[Sequence[Shape], Shape], int]

MOVES_DATA: Final = frozenset(
    {
        *("BATCH_TO_SPACE_ND", "BROADCAST_TO", "CONCATENATION", "DENSIFY", "DEPTH_TO_SPACE", "EMBEDDING_LOOKUP"),
        *("EXPAND_DIMS", "FILL", "GATHER", "GATHER_ND", "MIRROR_PAD", "PACK", "PAD", "PADV2", "RANK", "RESHAPE"),
        *("REVERSE_V2", "SHAPE", "SLICE", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUEEZE"),
        *("STRIDED_SLICE", "TILE", "TRANSPOSE", "UNPACK", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"),
        *("CALL_ONCE", "IF", "WHILE"),
    }
)


def _per_filter(inputs: Sequence[Shape], output: Shape) -> int:
    """CONV_2D: filter [out, height, width, in]; every output element sees one filter."""
    return math.prod(output) * math.prod(inputs[1][1:])


def _per_window(inputs: Sequence[Shape], output: Shape) -> int:
    """DEPTHWISE_CONV_2D: filter [1, height, width, channels]; every output element sees one window."""
    return math.prod(output) * math.prod(inputs[1][1:3])


def _per_column(inputs: Sequence[Shape], output: Shape) -> int:
    """FULLY_CONNECTED: weights [units, depth]."""
    return math.prod(output) * math.prod(inputs[1][1:])


def _scattered(inputs: Sequence[Shape], _output: Shape) -> int:
    """TRANSPOSE_CONV: inputs are (output shape, filter [out, height, width, in], data); every input is scattered."""
    return math.prod(inputs[2]) * math.prod(inputs[1][:3])


def _matrix(inputs: Sequence[Shape], output: Shape) -> int:
    """BATCH_MATMUL: a contraction over one dimension of the first input."""
    left = math.prod(inputs[0])
    rows = math.prod(output[:-1])
    return math.prod(output) * max(1, left // max(1, rows))


COUNTS: Final[MappingProxyType[str, tuple[int, Count]]] = MappingProxyType(
    {
        "CONV_2D": (2, _per_filter),
        "DEPTHWISE_CONV_2D": (2, _per_window),
        "FULLY_CONNECTED": (2, _per_column),
        "TRANSPOSE_CONV": (3, _scattered),
        "BATCH_MATMUL": (2, _matrix),
    }
)
"""Operation → (inputs it needs, count)."""


def macs(op: str, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
    """Multiply-accumulates of one run. Optional inputs that are absent have the shape ()."""
    if not outputs or op in MOVES_DATA:
        return 0
    needed, count = COUNTS.get(op, (0, None))
    if count is None or len(inputs) < needed:
        return sum(math.prod(shape) for shape in outputs)
    return count(inputs, outputs[0])
