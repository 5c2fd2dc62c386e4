"""The forms in which one model ships: float32, FP16 weights, and full INT8, as the converters write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from policies.graph import ModelGraph, Node

WEIGHTED_OPS = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "PRELU"})
FLOAT_ONLY_OPS = frozenset({"RSQRT", "SQRT", "LOG", "EXP", "POW", "SIN", "COS", "GELU"})
"""Operations that have no INT8 kernel in TFLite: they stay float islands in a quantised graph."""


def is_quantised(graph: ModelGraph) -> bool:
    """Whether any operation computes in integers of 8 bits."""
    return any(node.activation in {"int8", "uint8"} for node in graph.nodes)


def as_float32(graph: ModelGraph) -> ModelGraph:
    """The graph with its constants unfolded: operations that read constants only are run once, at conversion."""
    constants, nodes, doubled = set(graph.constants), [], 0
    for node in graph.nodes:
        if node.inputs and constants.issuperset(node.inputs):
            constants.update(node.outputs)
            doubled = 1
        else:
            nodes.append(node)
    read = {number for node in nodes for number in node.inputs}
    weight_bytes = graph.weight_bytes * (1 + doubled)  # FP16 weights take half the bytes
    return ModelGraph(tuple(nodes), graph.inputs, graph.outputs, frozenset(constants & read), weight_bytes)


def as_fp16_weights(graph: ModelGraph) -> ModelGraph:
    """Float32 arithmetic over FP16 weights: a DEQUANTIZE for each constant, in front of its first reader."""
    float32 = as_float32(graph)
    fresh = _Numbers(float32)
    unfolded: dict[int, int] = {}
    nodes: list[Node] = []
    for node in float32.nodes:
        weights = float32.constants.intersection(node.inputs[1:]) if node.op in WEIGHTED_OPS else frozenset()
        for number in sorted(weights - unfolded.keys()):
            unfolded[number] = fresh.take()
            nodes.append(Node("DEQUANTIZE", "float16w", (number,), (unfolded[number],)))
        inputs = tuple(unfolded.get(number, number) for number in node.inputs)
        nodes.append(Node(node.op, node.activation, inputs, node.outputs, node.macs))
    return ModelGraph(tuple(nodes), float32.inputs, float32.outputs, float32.constants, float32.weight_bytes // 2)


def as_int8(graph: ModelGraph) -> ModelGraph:
    """Full INT8 with float inputs and outputs: QUANTIZE and DEQUANTIZE at the borders and around float islands."""
    return graph if is_quantised(graph) else _Quantiser(as_float32(graph)).graph()


FORMS: dict[str, Callable[[ModelGraph], ModelGraph]] = {"fp32": as_float32, "fp16": as_fp16_weights, "int8": as_int8}
"""Precision → form."""


class _Numbers:
    """Tensor numbers that the graph does not use yet."""

    def __init__(self, graph: ModelGraph) -> None:
        used = [number for node in graph.nodes for number in (*node.inputs, *node.outputs)]
        self._next = 1 + max((*used, *graph.inputs, *graph.outputs), default=-1)

    def take(self) -> int:
        self._next += 1
        return self._next - 1


@dataclass
class _Quantiser:
    """Walks the graph once; `int8` and `float32` map a tensor of the float graph to its number in that type."""

    source: ModelGraph
    nodes: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._fresh = _Numbers(self.source)
        self._float = {number: number for number in self.source.inputs}
        self._int8: dict[int, int] = {}

    def graph(self) -> ModelGraph:
        for node in self.source.nodes:
            self._rewrite(node)
        outputs = tuple(self._as("float32", number) for number in self.source.outputs)
        weight_bytes = self.source.weight_bytes // 4
        return ModelGraph(tuple(self.nodes), self.source.inputs, outputs, self.source.constants, weight_bytes)

    def _rewrite(self, node: Node) -> None:
        quantised = node.activation == "float32" and node.op not in FLOAT_ONLY_OPS and not node.op.startswith("CUSTOM:")
        kind = "int8" if quantised else "float32"
        inputs = tuple(n if n in self.source.constants else self._as(kind, n) for n in node.inputs)
        activation = "int8" if quantised else node.activation
        self.nodes.append(Node(node.op, activation, inputs, node.outputs, node.macs))
        known = self._int8 if quantised else self._float
        known.update((number, number) for number in node.outputs)

    def _as(self, kind: str, number: int) -> int:
        """The tensor in the wanted type, converted where it is only known in the other."""
        wanted, other = (self._int8, self._float) if kind == "int8" else (self._float, self._int8)
        if number not in wanted:
            wanted[number] = self._fresh.take()
            op, activation = ("QUANTIZE", "float32") if kind == "int8" else ("DEQUANTIZE", "int8")
            self.nodes.append(Node(op, activation, (other[number],), (wanted[number],)))
        return wanted[number]
