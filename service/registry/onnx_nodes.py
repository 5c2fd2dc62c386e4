"""Operations of an `.onnx` file as nodes of a graph: what they work on, where their weights are stored, how much they do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from policies.graph import Node
from service.registry.model_file import Tensor

ABSENT: Final = -1
"""An optional input that is left out."""

WEIGHTS_INPUT: Final = MappingProxyType(
    {
        **dict.fromkeys(("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN"), 1),
        **dict.fromkeys(("ConvInteger", "MatMulInteger"), 1),
        **dict.fromkeys(("QLinearConv", "QLinearMatMul", "com.microsoft:QGemm"), 3),
    }
)
"""Which input holds the weights."""

MOVES_DATA: Final = frozenset(
    {
        *("Concat", "Constant", "ConstantOfShape", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements"),
        *("GatherND", "Identity", "If", "Loop", "Pad", "Reshape", "Scan", "Shape", "Slice", "SpaceToDepth", "Split"),
        *("Squeeze", "Tile", "Transpose", "Unsqueeze"),
    }
)
UNPACKS: Final = frozenset({"DequantizeLinear", "Cast"})
"""Of a constant they are how weights are stored; of a computed tensor DequantizeLinear says what it is computed in."""
STORED_BEHIND: Final = 2

BORDERS: Final = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})

DYNAMIC: Final = "DynamicQuantizeLinear"
"""It measures the range as the model runs: what it feeds is quantised dynamically, and float for the graph around it."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation as the file has it: tensor numbers with their holes."""

    op: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Nodes:
    """The nodes of a file, made from its operations and tensors."""

    def __init__(self, operations: Sequence[Operation], tensors: Sequence[Tensor], constants: frozenset[int]) -> None:
        self._operations = operations
        self._tensors = tensors
        self._constants = constants
        self._producer = {number: made for made in operations for number in made.outputs}
        self._readers: dict[int, list[Operation]] = {}
        for operation in operations:
            for number in operation.inputs:
                self._readers.setdefault(number, []).append(operation)

    def nodes(self) -> tuple[Node, ...]:
        """In the order of the file."""
        return tuple(self._node(operation) for operation in self._operations)

    def weights(self) -> Mapping[int, int]:
        """Position of a node → the constant that holds its weights, behind what only unpacks them."""
        found = {}
        for position, operation in enumerate(self._operations):
            slot = WEIGHTS_INPUT.get(operation.op, len(operation.inputs))
            stored = self._stored(operation.inputs[slot]) if slot < len(operation.inputs) else ABSENT
            if stored in self._constants:
                found[position] = stored
        return MappingProxyType(found)

    def _node(self, operation: Operation) -> Node:
        present = tuple(number for number in operation.inputs if number != ABSENT)
        outputs = tuple(number for number in operation.outputs if number != ABSENT)
        return Node(operation.op, self._activation(operation), present, outputs, self._macs(operation))

    def _stored(self, number: int) -> int:
        for _ in range(STORED_BEHIND):
            made = self._producer.get(number)
            if made is None or made.op not in UNPACKS:
                break
            number = made.inputs[0]
        return number

    def _activation(self, operation: Operation) -> str:
        """Element type that the operation works on: of its first computed input, or what it is quantised to.

        Runtimes compute in whole numbers what stands between a DequantizeLinear and a QuantizeLinear, and a Relu that only
        a QuantizeLinear reads is part of the operation before it.
        """
        computed = [n for n in operation.inputs if n != ABSENT and self._stored(n) not in self._constants]
        others = [n for n in (*operation.inputs, *operation.outputs) if n != ABSENT]
        number = next(iter(computed or others), None)
        if number is None:
            return "none"
        if operation.op in BORDERS:
            return self._tensors[number].dtype
        return self._dequantised(number) or self._quantised_after(operation) or self._tensors[number].dtype

    def _dequantised(self, number: int) -> str | None:
        made = self._producer.get(number)
        if made is None or made.op not in {"DequantizeLinear", DYNAMIC}:
            return None
        return self._tensors[made.inputs[0]].dtype

    def _quantised_after(self, operation: Operation) -> str | None:
        readers = [reader for number in operation.outputs for reader in self._readers.get(number, ())]
        if not readers or any(reader.op != "QuantizeLinear" for reader in readers):
            return None
        return self._tensors[readers[0].outputs[0]].dtype

    def _macs(self, operation: Operation) -> int:
        shapes = [self._tensors[n].shape if n != ABSENT else () for n in operation.inputs]
        outputs = [self._tensors[n].shape for n in operation.outputs if n != ABSENT]
        if not outputs or operation.op in MOVES_DATA:
            return 0
        slot = WEIGHTS_INPUT.get(operation.op, len(shapes))
        count = _COUNTS.get(operation.op)
        if count is None or slot >= len(shapes):
            return sum(math.prod(shape) for shape in outputs)
        return count(shapes[0], shapes[slot], outputs[0])


Shape = tuple[int, ...]


def _per_filter(_data: Shape, weights: Shape, output: Shape) -> int:
    """Filter [out, in / groups, height, width]; every output element sees one filter."""
    return math.prod(output) * math.prod(weights[1:])


def _scattered(data: Shape, weights: Shape, _output: Shape) -> int:
    """Filter [in, out / groups, height, width]; every input element is scattered."""
    return math.prod(data) * math.prod(weights[1:])


def _matrix(data: Shape, _weights: Shape, output: Shape) -> int:
    """A contraction over the last dimension of the data."""
    return math.prod(output) * (data[-1] if data else 1)


_COUNTS: Final[Mapping[str, Callable[[Shape, Shape, Shape], int]]] = MappingProxyType(
    {
        **dict.fromkeys(("Conv", "ConvInteger", "QLinearConv"), _per_filter),
        "ConvTranspose": _scattered,
        **dict.fromkeys(("Gemm", "MatMul", "MatMulInteger", "QLinearMatMul", "com.microsoft:QGemm"), _matrix),
    }
)
