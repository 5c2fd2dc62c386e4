"""R-B1: a graph travels as JSON, and what is not a graph is refused where it enters."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.graph import MAX_COUNT, MAX_NODES, ModelGraph, Node, order_fault

RELU = Node("RELU", "float32", (0,), (1,), macs=6)
GRAPH = ModelGraph((RELU, Node("ADD", "float32", (1, 2), (3,), 6)), (0,), (3,), frozenset({2}), weight_bytes=24)


def test_work_is_the_sum_over_the_nodes() -> None:
    assert GRAPH.macs == 12


def test_a_graph_survives_json() -> None:
    assert ModelGraph.from_json(GRAPH.to_json()) == GRAPH


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": {}},
        {"nodes": [["RELU", "float32", [0], [1]]]},
        {"nodes": [["RELU", "float32", 0, [1], 0]]},
        {"nodes": [["RELU", None, [0], [1], 0]]},
        {"nodes": [[7, "float32", [0], [1], 0]]},
        {"nodes": [["RELU", "float32", [True], [1], 0]]},
        {"nodes": [["RELU", "float32", [0], [1], -1]]},
        {"nodes": [["RELU", "float32", [0], [1], MAX_COUNT + 1]]},
        {"nodes": [["RELU", "float32", [1], [1], 0]]},
        {"nodes": [["RELU", "float32", [0], [1], 0]] * 2},
        {"nodes": [["A", "b", [], [], 0]] * (MAX_NODES + 1)},
        {"inputs": [0.5]},
        {"outputs": None},
        {"constants": "12"},
        {"weight_bytes": "24"},
    ],
)
def test_what_is_not_a_graph_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        ModelGraph.from_json({**GRAPH.to_json(), **change})


@pytest.mark.parametrize("part", ["nodes", "inputs", "outputs", "constants", "weight_bytes"])
def test_every_part_is_needed(part: str) -> None:
    raw = GRAPH.to_json()
    del raw[part]
    with pytest.raises(ValueError, match=part):
        ModelGraph.from_json(raw)


@pytest.mark.parametrize("raw", [None, [], "graph", 7])
def test_a_graph_is_an_object(raw: Any) -> None:
    with pytest.raises(ValueError, match="not a graph"):
        ModelGraph.from_json(raw)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(st.fixed_dictionaries(dict.fromkeys(GRAPH.to_json(), json_values)))
def test_any_json_is_a_graph_or_refused(raw: dict[str, Any]) -> None:
    try:
        graph = ModelGraph.from_json(raw)
    except ValueError:
        return
    assert ModelGraph.from_json(graph.to_json()) == graph


def test_the_order_of_a_sound_graph_has_no_fault() -> None:
    assert order_fault(GRAPH.nodes) is None


def test_a_fault_in_the_order_names_node_and_tensor() -> None:
    assert order_fault((RELU, RELU)) == "node 1 computes tensor 1 a second time"
    assert order_fault(tuple(reversed(GRAPH.nodes))) == "tensor 1 is read before node 1 computes it"
