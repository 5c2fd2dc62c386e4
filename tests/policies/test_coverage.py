"""R-B2: share, partitions and blockers of a graph, equal to LiteRT's own."""

import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.coverage import FP16_WEIGHTS, Fp16Weights, all_but, coverage, only
from policies.graph import ModelGraph, Node
from policies.partition import partition_epochs
from policies.vocabulary import Delegate

VECTORS = Path(__file__).parents[1] / "vectors"
ROWS = json.loads((VECTORS / "litert_partitions.json").read_text("utf-8"))


@cache
def litert_graphs() -> dict[str, ModelGraph]:
    packed = json.loads(gzip.decompress((VECTORS / "litert_graphs.json.gz").read_bytes()))
    return {file: ModelGraph.from_json(graph) for file, graph in packed.items()}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['file'].split('/')[-1]} {'+'.join(row['unsupported'])}")
def test_partitions_equal_litert(row: dict[str, Any]) -> None:
    found = coverage(litert_graphs()[row["file"]], all_but(row["unsupported"]))
    assert found.nodes == row["nodes"]
    assert found.supported_nodes == found.delegated_nodes == row["supported_nodes"]
    assert list(found.partitions) == row["partition_sizes"]


def chain(*ops: str, constants: Sequence[int] = ()) -> ModelGraph:
    """Operations one after the other, all float32."""
    nodes = tuple(Node(op, "float32", (i,), (i + 1,)) for i, op in enumerate(ops))
    return ModelGraph(nodes, (0,), (len(ops),), frozenset(constants))


def fp16_graph(*, first: str = "FULLY_CONNECTED") -> ModelGraph:
    """PAD, then two layers with FP16 weights behind their dequantises."""
    nodes = (
        Node("PAD", "float32", (0,), (1,)),
        Node("DEQUANTIZE", "float16w", (10,), (11,)),
        Node("DEQUANTIZE", "float16w", (12,), (13,)),
        Node(first, "float32", (1, 11), (2,)),
        Node("FULLY_CONNECTED", "float32", (2, 13), (3,)),
    )
    return ModelGraph(nodes, (0,), (3,), frozenset({10, 12}))


class TestPartitions:
    def test_an_unsupported_operation_cuts_the_graph(self) -> None:
        found = coverage(chain("CONV", "RELU", "PRELU", "CONV"), all_but({"PRELU|float32"}))
        assert (found.partitions, found.cut_count) == ((2, 1), 2)
        assert (found.share, found.blockers) == (0.75, (("PRELU|float32", 1),))

    def test_a_fully_supported_graph_is_one_partition_without_cuts(self) -> None:
        found = coverage(chain("CONV", "RELU"), all_but(()))
        assert (found.partitions, found.cut_count, found.share, found.blockers) == ((2,), 0, 1.0, ())

    def test_nothing_supported_is_no_partition_and_no_cut(self) -> None:
        found = coverage(chain("CONV", "RELU"), only(()))
        assert (found.partitions, found.cut_count, found.share) == ((), 0, 0.0)

    def test_independent_branches_join_one_partition_around_a_blocker(self) -> None:
        nodes = (
            Node("BAD", "float32", (0,), (1,)),
            Node("CONV", "float32", (0,), (2,)),
            Node("BAD", "float32", (2,), (3,)),
            Node("ADD", "float32", (1, 3), (4,)),
        )
        found = coverage(ModelGraph(nodes, (0,), (4,), frozenset()), all_but({"BAD|float32"}))
        assert found.partitions == (1, 1)
        assert found.cut_count == 3

    def test_a_node_that_reads_constants_only_stays_behind(self) -> None:
        nodes = (Node("TRANSPOSE", "float32", (9,), (1,)), Node("ADD", "float32", (0, 1), (2,)))
        found = coverage(ModelGraph(nodes, (0,), (2,), frozenset({9})), all_but(()))
        assert (found.partitions, found.blockers) == ((1,), (("TRANSPOSE|float32", 1),))

    def test_nodes_that_touch_variables_keep_their_order(self) -> None:
        # READ does not depend on ASSIGN by any tensor, yet it must see what ASSIGN stored.
        nodes = (
            Node("BAD", "float32", (0,), (1,)),
            Node("ASSIGN_VARIABLE", "resource", (5, 1), ()),
            Node("READ_VARIABLE", "resource", (5,), (2,)),
        )
        graph = ModelGraph(nodes, (0, 5), (2,), frozenset())
        assert partition_epochs(graph, [False, True, True]) == (0, 1, 1)
        without_order = ModelGraph((nodes[0], nodes[2]), (0, 5), (2,), frozenset())
        assert partition_epochs(without_order, [False, True]) == (0, 1)
        assert partition_epochs(graph, [False, False, True]) == (0, 0, 1)
        assert partition_epochs(graph, [True, False, True]) == (0, 1, 2)

    def test_an_empty_graph_has_no_share(self) -> None:
        found = coverage(ModelGraph((), (), (), frozenset()), all_but(()))
        assert (found.share, found.partitions, found.cut_count) == (0.0, (), 0)


class TestMaxPartitions:
    GRAPH = chain("CONV", "BAD", "CONV", "CONV", "CONV", "BAD", "CONV", "CONV")
    SUPPORT = staticmethod(all_but({"BAD|float32"}))

    def test_the_largest_stay_in_execution_order(self) -> None:
        found = coverage(self.GRAPH, self.SUPPORT, max_partitions=2)
        assert (found.partitions, found.delegated_nodes, found.supported_nodes) == ((3, 2), 5, 6)
        assert found.share == 5 / 8
        assert found.cut_count == 3

    def test_of_two_of_one_size_the_earlier_stays(self) -> None:
        graph = chain("CONV", "BAD", "CONV")
        found = coverage(graph, self.SUPPORT, max_partitions=1)
        assert (found.partitions, found.cut_count) == ((1,), 1)

    @pytest.mark.parametrize("unlimited", [None, 0, -1])
    def test_none_or_less_than_one_is_no_limit(self, unlimited: int | None) -> None:
        assert coverage(self.GRAPH, self.SUPPORT, max_partitions=unlimited).partitions == (1, 3, 2)


class TestUnknownSupport:
    def test_leaves_the_share_open(self) -> None:
        support = {"CONV|float32": True, "BAD|float32": False}.get
        found = coverage(chain("CONV", "NEW", "BAD", "CONV"), support)
        assert found.share is None
        assert found.delegated_share == 0.5
        assert (found.unknown, found.blockers) == ((("NEW|float32", 1),), (("BAD|float32", 1),))
        assert found.partitions == (1, 1)

    def test_blockers_come_most_frequent_first_then_by_name(self) -> None:
        found = coverage(chain("B", "C", "A", "C"), only(()))
        assert found.blockers == (("C|float32", 2), ("A|float32", 1), ("B|float32", 1))


class TestFp16Weights:
    def test_their_dequantises_are_no_work(self) -> None:
        found = coverage(fp16_graph(), all_but({"PAD|float32"}))
        assert (found.nodes, found.folded_nodes, found.supported_nodes) == (5, 2, 2)
        assert (found.share, found.partitions, found.cut_count) == (2 / 3, (2,), 1)
        assert found.blockers == (("PAD|float32", 1),)

    def test_left_behind_they_can_cut_even_a_fully_supported_graph(self) -> None:
        found = coverage(fp16_graph(), all_but(()), fp16_weights=Fp16Weights.LEFT)
        assert (found.share, found.partitions, found.cut_count) == (1.0, (1, 2), 0)

    @pytest.mark.parametrize("care", [Fp16Weights.FOLDED, Fp16Weights.ALL_OR_NOTHING])
    def test_with_all_else_supported_they_go_along_in_one_partition(self, care: Fp16Weights) -> None:
        found = coverage(fp16_graph(), all_but(()), fp16_weights=care)
        assert (found.share, found.partitions, found.cut_count) == (1.0, (3,), 0)

    def test_on_the_gpu_a_blocker_leaves_the_rest_delegated(self) -> None:
        found = coverage(fp16_graph(first="BAD"), all_but({"BAD|float32"}), fp16_weights=FP16_WEIGHTS[Delegate.GPU])
        assert found.partitions == (1, 1)

    def test_on_nnapi_one_blocker_leaves_all_to_the_cpu(self) -> None:
        found = coverage(fp16_graph(first="BAD"), all_but({"BAD|float32"}), fp16_weights=FP16_WEIGHTS[Delegate.NNAPI])
        assert (found.partitions, found.share, found.supported_nodes) == ((), 0.0, 2)

    def test_on_nnapi_other_precisions_are_delegated_in_part(self) -> None:
        found = coverage(chain("CONV", "BAD"), all_but({"BAD|float32"}), fp16_weights=Fp16Weights.ALL_OR_NOTHING)
        assert found.partitions == (1,)


OPS = ("A", "B", "C", "D")


@st.composite
def graphs(draw: st.DrawFn) -> ModelGraph:
    """Any graph in execution order: each node reads earlier tensors, constants and inputs; some touch variables."""
    nodes = []
    for position in range(draw(st.integers(1, 24))):
        reads = draw(st.lists(st.integers(-3, position - 1), min_size=0, max_size=3))
        kind = draw(st.sampled_from(["float32", "float32", "float32", "resource"]))
        nodes.append(Node(draw(st.sampled_from(OPS)), kind, tuple(100 + read for read in reads), (100 + position,)))
    return ModelGraph(tuple(nodes), (98, 99), (), frozenset({97}))


supports = st.sets(st.sampled_from([f"{op}|{kind}" for op in OPS for kind in ("float32", "resource")]))


def greedy_epochs(graph: ModelGraph, claimed: Sequence[bool]) -> tuple[int, ...]:
    """The search as the runtime does it: sweep until nothing of the current kind is ready, then change the kind."""
    computed = {tensor: position for position, node in enumerate(graph.nodes) for tensor in node.outputs}
    effects = [position for position, node in enumerate(graph.nodes) if node.activation == "resource"]
    after = dict(zip(effects[1:], effects, strict=False))
    epochs: dict[int, int] = {}
    epoch = 0
    while len(epochs) < len(graph.nodes):
        kind = None
        found = True
        while found:
            found = False
            for position, node in enumerate(graph.nodes):
                sources = [computed[tensor] for tensor in node.inputs if tensor in computed]
                sources += [after[position]] if position in after else []
                if position in epochs or any(source not in epochs for source in sources):
                    continue
                kind = claimed[position] if kind is None else kind
                if kind == claimed[position]:
                    epochs[position] = epoch
                    found = True
        epoch += 1
    return tuple(epochs[position] for position in range(len(graph.nodes)))


class TestLaws:
    @given(graphs(), st.data())
    def test_one_pass_finds_the_epochs_of_the_greedy_search(self, graph: ModelGraph, data: st.DataObject) -> None:
        size = len(graph.nodes)
        claimed = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
        assert partition_epochs(graph, claimed) == greedy_epochs(graph, claimed)

    @given(graphs(), supports, st.none() | st.integers(0, 4))
    def test_partitions_sum_to_the_delegated_nodes(
        self, graph: ModelGraph, supported: set[str], most: int | None
    ) -> None:
        found = coverage(graph, only(supported), max_partitions=most)
        assert sum(found.partitions) == found.delegated_nodes <= found.supported_nodes <= found.nodes
        assert all(size > 0 for size in found.partitions)

    @given(graphs(), supports, supports)
    def test_more_support_never_leaves_fewer_nodes_supported(
        self, graph: ModelGraph, less: set[str], extra: set[str]
    ) -> None:
        assert coverage(graph, only(less)).supported_nodes <= coverage(graph, only(less | extra)).supported_nodes

    @given(graphs(), supports, st.integers(1, 4))
    def test_a_limit_keeps_the_largest(self, graph: ModelGraph, supported: set[str], most: int) -> None:
        everything = coverage(graph, only(supported)).partitions
        kept = coverage(graph, only(supported), max_partitions=most).partitions
        assert sorted(kept, reverse=True) == sorted(everything, reverse=True)[:most]

    @given(graphs(), supports, st.integers(1, 4))
    def test_partitioning_the_kept_nodes_again_changes_nothing(
        self, graph: ModelGraph, supported: set[str], most: int
    ) -> None:
        # The runtime partitions a second time, by the nodes of the kept partitions only.
        claims = [node.key in supported and any(t not in graph.constants for t in node.inputs) for node in graph.nodes]
        epochs = partition_epochs(graph, claims)
        sizes = {e: sum(c and e == x for c, x in zip(claims, epochs, strict=True)) for e in set(epochs)}
        kept = sorted((e for e in sizes if sizes[e]), key=lambda e: (-sizes[e], e))[:most]
        again = [claim and epoch in kept for claim, epoch in zip(claims, epochs, strict=True)]
        second = partition_epochs(graph, again)
        sizes_again = [sum(c and e == x for c, x in zip(again, second, strict=True)) for e in sorted(set(second))]
        assert [size for size in sizes_again if size] == [sizes[epoch] for epoch in sorted(kept)]

    @given(graphs(), supports)
    def test_every_node_is_supported_or_a_blocker(self, graph: ModelGraph, supported: set[str]) -> None:
        found = coverage(graph, only(supported))
        assert found.supported_nodes + sum(count for _, count in found.blockers) == found.nodes
