"""How much of a model a delegate takes over: ModelGraph × support → Coverage. Pure.

Which nodes a delegate may claim, and what it does with FP16 weights, follows LiteRT (`tflite/delegates/utils.cc`,
`tflite/delegates/nnapi/nnapi_delegate.cc`); the partitions themselves are in `policies.partition`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from types import MappingProxyType
from typing import Final

from policies.graph import ModelGraph, Node
from policies.partition import largest, partition_epochs
from policies.vocabulary import Delegate

Support = Callable[[str], bool | None]
"""`OPERATION|activation type` → taken, refused, or None where nobody knows. A mapping's `get` is one."""

FP16_CONSTANT: Final = "float16w"
"""Activation of a dequantise of constant FP16 weights: a way to store them, no work of its own."""


class Fp16Weights(StrEnum):
    """What a delegate does with FP16 weights, which are constants behind DEQUANTIZE nodes."""

    LEFT = "left"
    """It leaves the DEQUANTIZE nodes to the runtime, as a delegate without special care does."""
    FOLDED = "folded"
    """Where it takes all other nodes it takes these too, as one partition; else it leaves them."""
    ALL_OR_NOTHING = "all-or-nothing"
    """Where it takes all other nodes it takes these too, as one partition; else it takes no node at all."""


FP16_WEIGHTS: Final = MappingProxyType(
    dict.fromkeys(Delegate, Fp16Weights.LEFT)
    | {Delegate.GPU: Fp16Weights.FOLDED, Delegate.NNAPI: Fp16Weights.ALL_OR_NOTHING}
)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What becomes of a graph's nodes.

    `nodes` counts all, `folded_nodes` the dequantises of constant FP16 weights among them. `partitions` are the
    sizes of those handed over, in execution order; `cut_count` is how often a run changes between delegate and
    CPU. `blockers` are the keys that stay behind, `unknown` those that nobody knows about (they stay behind too),
    with counts, most frequent first.
    """

    nodes: int
    folded_nodes: int
    supported_nodes: int
    delegated_nodes: int
    partitions: tuple[int, ...]
    cut_count: int
    blockers: tuple[tuple[str, int], ...]
    unknown: tuple[tuple[str, int], ...]

    @property
    def share(self) -> float | None:
        """Share of the nodes that are delegated, 0…1; None where support is unknown for any of them."""
        return None if self.unknown else self.delegated_share

    @property
    def delegated_share(self) -> float:
        """Share of the nodes that are delegated, 0…1, where what is unknown stays behind."""
        work = self.nodes - self.folded_nodes
        return self.delegated_nodes / work if work else 0.0


def all_but(unsupported: Collection[str]) -> Support:
    """Support of every key except those named."""
    return lambda key: key not in unsupported


def only(supported: Collection[str]) -> Support:
    """Support of the named keys and no other."""
    return lambda key: key in supported


def coverage(
    graph: ModelGraph,
    support: Support,
    *,
    max_partitions: int | None = None,
    fp16_weights: Fp16Weights = Fp16Weights.LEFT,
) -> Coverage:
    """Coverage of `graph` by a delegate that takes what `support` says.

    Only the `max_partitions` largest partitions are handed over (None or below 1: all, as in LiteRT's options).
    """
    folded = [node.activation == FP16_CONSTANT for node in graph.nodes]
    answers = _answers(graph, support)
    supported = [answer is True and not fold for answer, fold in zip(answers, folded, strict=True)]
    claimed = _claimed(supported, folded, fp16_weights)
    epochs = partition_epochs(graph, claimed)
    work = [epoch for epoch, fold in zip(epochs, folded, strict=True) if not fold]
    sizes = Counter(epoch for epoch, claim, fold in zip(epochs, claimed, folded, strict=True) if claim and not fold)
    kept = largest(sizes, max_partitions)
    asked = [(node, answer) for node, answer, fold in zip(graph.nodes, answers, folded, strict=True) if not fold]
    return Coverage(
        nodes=len(graph.nodes),
        folded_nodes=sum(folded),
        supported_nodes=sum(supported),
        delegated_nodes=sum(sizes[epoch] for epoch in kept),
        partitions=tuple(sizes[epoch] for epoch in sorted(kept)),
        cut_count=max(0, sum(1 for _ in groupby(epoch in kept for epoch in sorted(set(work)))) - 1),
        blockers=_frequent_first(node for node, answer in asked if answer is False),
        unknown=_frequent_first(node for node, answer in asked if answer is None),
    )


def _answers(graph: ModelGraph, support: Support) -> list[bool | None]:
    answer_of = {key: support(key) for key in {node.key for node in graph.nodes}}
    return [answer_of[node.key] if _computes(node, graph) else False for node in graph.nodes]


def _computes(node: Node, graph: ModelGraph) -> bool:
    """A node that reads constants only, or nothing, is never handed over."""
    return any(tensor not in graph.constants for tensor in node.inputs)


def _claimed(supported: Sequence[bool], folded: Sequence[bool], fp16_weights: Fp16Weights) -> Sequence[bool]:
    if fp16_weights is Fp16Weights.LEFT or not any(folded):
        return supported
    if all(support or fold for support, fold in zip(supported, folded, strict=True)):
        return [True] * len(folded)
    return supported if fp16_weights is Fp16Weights.FOLDED else [False] * len(folded)


def _frequent_first(nodes: Iterable[Node]) -> tuple[tuple[str, int], ...]:
    counts = Counter(node.key for node in nodes)
    return tuple(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
