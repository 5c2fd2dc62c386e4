"""How a delegate cuts a graph: the nodes behind the sizes that `policies.coverage` counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ml.fleet.silicon import Split, Work
from policies.graph import ModelGraph
from policies.partition import largest, partition_epochs

FP16_CONSTANT = "float16w"

NNAPI_MAX_PARTITIONS = 3
GPU_MAX_PARTITIONS = 1
VENDOR_MAX_PARTITIONS = 3
"""Partitions kept by default. Source: LiteRT's nnapi_delegate.h, gpu/delegate_options.h; vendors assumed."""


@dataclass(frozen=True)
class PartitionRules:
    """What a delegate takes (keys of `policies.graph.Node`; None: everything) and how many partitions it keeps.

    With `all_or_nothing` a model with FP16 weights is taken whole or not at all.
    """

    taken: frozenset[str] | None
    max_partitions: int = 1
    all_or_nothing: bool = False


EVERYTHING = PartitionRules(None)


def nnapi_rules(taken: frozenset[str]) -> PartitionRules:
    """The NNAPI delegate, with one driver named."""
    return PartitionRules(taken, NNAPI_MAX_PARTITIONS, all_or_nothing=True)


def gpu_rules(taken: frozenset[str]) -> PartitionRules:
    """The GPU delegate."""
    return PartitionRules(taken, GPU_MAX_PARTITIONS)


def vendor_rules(taken: frozenset[str]) -> PartitionRules:
    """A vendor's delegate."""
    return PartitionRules(taken, VENDOR_MAX_PARTITIONS)


def split_graph(graph: ModelGraph, rules: PartitionRules) -> Split:
    """The split that LiteRT makes under these rules.

    The largest partitions are delegated, of two of one size the earlier. FP16 weights are folded into the delegate.
    """
    whole = folded(graph)
    if rules.taken is None:
        return Split((Work.of(whole.nodes),), Work(), 1)
    # What reads constants only, or nothing, is never handed over.
    claimed = [node.key in rules.taken and not whole.constants.issuperset(node.inputs) for node in whole.nodes]
    if rules.all_or_nothing and len(whole.nodes) < len(graph.nodes) and not all(claimed):
        claimed = [False] * len(claimed)
    pieces = partition_epochs(whole, claimed)
    sizes = Counter(piece for piece, claim in zip(pieces, claimed, strict=True) if claim)
    kept = sorted(largest(sizes, rules.max_partitions))
    placed = list(zip(whole.nodes, pieces, strict=True))
    delegated = tuple(Work.of(node for node, piece in placed if piece == wanted) for wanted in kept)
    left = Work.of(node for node, piece in placed if piece not in kept)
    return Split(delegated, left, _pieces(pieces, frozenset(kept)))


def folded(graph: ModelGraph) -> ModelGraph:
    """The graph without dequantises of constant FP16 weights: a way to store them, no work."""
    nodes = tuple(node for node in graph.nodes if node.activation != FP16_CONSTANT)
    return ModelGraph(nodes, graph.inputs, graph.outputs, graph.constants, graph.weight_bytes)


def _pieces(pieces: Sequence[int], kept: frozenset[int]) -> int:
    """Runs of delegated and of undelegated pieces in order: what `Replacing … yielding n partitions` counts."""
    kinds = [piece in kept for piece in sorted(set(pieces))]
    return 1 + sum(a != b for a, b in pairwise(kinds)) if kinds else 0
