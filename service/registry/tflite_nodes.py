"""Operations of a `.tflite` file as nodes of a graph: what they work on, and where their weights are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from policies.graph import Node
from service.registry.macs import macs
from service.registry.model_file import Tensor
from service.registry.precision import WEIGHTS_INPUT

NO_TENSOR: Final = -1
"""An optional input that is absent."""

STORED_BEHIND: Final = 2
"""Weights lie at most behind a DENSIFY and a DEQUANTIZE; a longer chain is no way to store them."""

ACTIVATION_INPUT: Final = MappingProxyType(
    {
        "EMBEDDING_LOOKUP": 1,
        "FILL": 1,
        "GATHER": 0,
        "GATHER_ND": 0,
        "HASHTABLE_LOOKUP": 2,
        "ONE_HOT": 2,
        "SCATTER_ND": 1,
        "SELECT": 1,
        "SELECT_V2": 1,
        "TRANSPOSE_CONV": 2,
    }
)
"""Operations whose element type is not that of their first computed input."""


@dataclass(frozen=True, slots=True)
class Operator:
    """An operation as the file has it: tensor numbers with their holes."""

    op: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def node_of(operator: Operator, tensors: Sequence[Tensor], constants: frozenset[int]) -> Node:
    """The operation without its holes, with what it works on and how much."""
    shapes = [tensors[number].shape if number != NO_TENSOR else () for number in operator.inputs]
    outputs = tuple(number for number in operator.outputs if number != NO_TENSOR)
    return Node(
        op=operator.op,
        activation=_activation(operator, tensors, constants),
        inputs=tuple(number for number in operator.inputs if number != NO_TENSOR),
        outputs=outputs,
        macs=macs(operator.op, shapes, [tensors[number].shape for number in outputs]),
    )


def _activation(operator: Operator, tensors: Sequence[Tensor], constants: frozenset[int]) -> str:
    """Element type that the operation works on: of its first computed input, unless the table says otherwise."""
    inputs = [number for number in operator.inputs if number != NO_TENSOR]
    named = ACTIVATION_INPUT.get(operator.op, len(operator.inputs))
    if named < len(operator.inputs) and operator.inputs[named] != NO_TENSOR:
        return tensors[operator.inputs[named]].dtype
    if operator.op == "DEQUANTIZE" and inputs and inputs[0] in constants and tensors[inputs[0]].dtype == "float16":
        return "float16w"
    computed = [number for number in inputs if number not in constants]
    outputs = [number for number in operator.outputs if number != NO_TENSOR]
    return next((tensors[number].dtype for number in (*computed, *inputs, *outputs)), "none")


def stored_weights(
    operators: Sequence[Operator], nodes: Sequence[Node], constants: frozenset[int]
) -> Mapping[int, int]:
    """Position of a node → the constant that holds its weights, behind the operations that only unpack them."""
    unpacked = {
        node.outputs[0]: node.inputs[0]
        for node in nodes
        if node.op in {"DEQUANTIZE", "DENSIFY"} and node.inputs and node.outputs
    }
    found = {}
    for position, operator in enumerate(operators):
        slot = WEIGHTS_INPUT.get(operator.op, len(operator.inputs))
        weights = operator.inputs[slot] if slot < len(operator.inputs) else NO_TENSOR
        for _ in range(STORED_BEHIND):
            weights = unpacked.get(weights, weights)
        if weights in constants:
            found[position] = weights
    return MappingProxyType(found)
