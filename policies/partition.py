"""The partitions that LiteRT makes of a graph when a delegate claims some of its nodes. Pure.

LiteRT (`tflite/graph_info.cc`) gathers nodes of one kind, claimed or not, as long as it finds one whose inputs are
all computed; then it starts the next epoch with the other kind. An epoch of claimed nodes is a partition. So a
node's epoch is the largest number of changes of kind on any path to it, and one pass in execution order finds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from policies.graph import ModelGraph, Node

RUNS_A_SUBGRAPH: Final = frozenset({"IF", "WHILE", "CALL_ONCE"})


def partition_epochs(graph: ModelGraph, claimed: Sequence[bool]) -> tuple[int, ...]:
    """Epoch of each node, counted from 0. `claimed` has one entry per node, in execution order.

    The first node is always ready, so its kind is that of epoch 0.
    """
    producer = {tensor: position for position, node in enumerate(graph.nodes) for tensor in node.outputs}
    epochs: list[int] = []
    last_effect: int | None = None
    for position, node in enumerate(graph.nodes):
        before = [source for source in _sources(node, producer) if source < position]
        if _has_effect(node):
            before += [last_effect] if last_effect is not None else []
            last_effect = position
        first = int(claimed[position] != claimed[0])
        epochs.append(
            max((epochs[source] + (claimed[source] != claimed[position]) for source in before), default=first)
        )
    return tuple(epochs)


def largest(sizes: Mapping[int, int], count: int | None) -> frozenset[int]:
    """The `count` largest partitions, as epochs; all where `count` is None or below 1. Of equals the earlier."""
    if count is None or count < 1:
        return frozenset(sizes)
    return frozenset(sorted(sizes, key=lambda epoch: (-sizes[epoch], epoch))[:count])


def _sources(node: Node, producer: Mapping[int, int]) -> Iterator[int]:
    yield from (producer[tensor] for tensor in node.inputs if tensor in producer)


def _has_effect(node: Node) -> bool:
    """Nodes that touch variables or run another subgraph keep their order among themselves."""
    return node.activation == "resource" or node.op in RUNS_A_SUBGRAPH
