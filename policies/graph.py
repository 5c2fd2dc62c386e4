"""A model as operations and the tensors between them: what coverage is computed from. No file parsing here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self

MAX_NODES: Final = 50_000
MAX_COUNT: Final = 2**53
"""Tensor numbers, bytes and multiply-accumulates stay below: JSON numbers lose digits beyond it."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation.

    `activation` is the element type it works on ("float32", "int8", "uint8", "int16", …; "float16w" for a
    dequantise of constant FP16 weights; "none" without tensors), `inputs` and `outputs` are tensor numbers without
    optional holes, `macs` the multiply-accumulates of one run (0 where it only moves data).
    """

    op: str
    activation: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    macs: int = 0

    @property
    def key(self) -> str:
        """`OPERATION|activation type`, the key of support tables."""
        return f"{self.op}|{self.activation}"


@dataclass(frozen=True)
class ModelGraph:
    """The main subgraph in execution order. `constants` are tensors with data in the file."""

    nodes: tuple[Node, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    constants: frozenset[int]
    weight_bytes: int = 0

    @cached_property
    def macs(self) -> int:
        """Multiply-accumulates of one run."""
        return sum(node.macs for node in self.nodes)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, the inverse of `from_json`. Nodes are rows of (op, activation, inputs, outputs, macs)."""
        return {
            "nodes": [[n.op, n.activation, list(n.inputs), list(n.outputs), n.macs] for n in self.nodes],
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "constants": sorted(self.constants),
            "weight_bytes": self.weight_bytes,
        }

    @classmethod
    def from_json(cls, raw: Any) -> Self:
        """A graph from `to_json`'s output; raises ValueError where it is not that or not in execution order."""
        try:
            nodes = tuple(_node(*row) for row in _rows(raw["nodes"]))
            graph = cls(
                nodes=nodes,
                inputs=_counts(raw["inputs"]),
                outputs=_counts(raw["outputs"]),
                constants=frozenset(_counts(raw["constants"])),
                weight_bytes=_count(raw["weight_bytes"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a graph: {error!r}") from error
        if (fault := order_fault(nodes)) is not None:
            raise ValueError(fault)
        return graph


def order_fault(nodes: Iterable[Node]) -> str | None:
    """What is wrong with the order of the nodes: a tensor computed twice or read too early. None where all is well."""
    computed: set[int] = set()
    read: set[int] = set()
    for position, node in enumerate(nodes):
        read.update(node.inputs)
        for tensor in node.outputs:
            if tensor in computed:
                return f"node {position} computes tensor {tensor} a second time"
            if tensor in read:
                return f"tensor {tensor} is read before node {position} computes it"
        computed.update(node.outputs)
    return None


def _rows(raw: Any) -> Sequence[Any]:
    if not isinstance(raw, list) or len(raw) > MAX_NODES:
        raise ValueError(f"nodes must be a list of at most {MAX_NODES} rows")
    return raw


def _node(op: Any, activation: Any, inputs: Any, outputs: Any, macs: Any) -> Node:
    if not isinstance(op, str) or not isinstance(activation, str):
        raise TypeError("an operation and its activation type are texts")
    return Node(op, activation, _counts(inputs), _counts(outputs), _count(macs))


def _counts(raw: Any) -> tuple[int, ...]:
    return tuple(_count(number) for number in raw)


def _count(raw: Any) -> int:
    if type(raw) is not int or not 0 <= raw <= MAX_COUNT:
        raise ValueError(f"{raw!r} is not an integer between 0 and {MAX_COUNT}")
    return raw
