"""Which nodes delegates took, read back from an interpreter's list of nodes (R-D1, R-B2)."""

from __future__ import annotations

from nnfleet_litert.slices import DELEGATE, Delegation, Op, delegation


def chain(length: int) -> list[Op]:
    """Nodes that each read the one before, and a constant of their own."""
    return [Op("CONV_2D", (i, 100 + i), (i + 1,)) for i in range(length)]


def test_without_a_piece_nothing_is_delegated() -> None:
    assert delegation(chain(3)) == Delegation(0, 0, 3)


def test_a_piece_replaces_the_nodes_between_its_inputs_and_its_outputs() -> None:
    assert delegation([*chain(5), Op(DELEGATE, (1, 101, 102), (3,))]) == Delegation(1, 2, 5)


def test_pieces_are_counted_apart_and_their_nodes_together() -> None:
    pieces = [Op(DELEGATE, (0,), (1,)), Op(DELEGATE, (3,), (5,))]
    assert delegation([*chain(5), *pieces]) == Delegation(2, 3, 5)


def test_branches_within_a_piece_count_once() -> None:
    split = [Op("SPLIT", (0,), (1, 2)), Op("RELU", (1,), (3,)), Op("RELU", (2,), (4,)), Op("ADD", (3, 4), (5,))]
    assert delegation([*split, Op(DELEGATE, (0,), (5,))]) == Delegation(1, 4, 4)


def test_a_piece_with_several_outputs_takes_the_nodes_of_each() -> None:
    heads = [Op("CONV_2D", (0,), (1,)), Op("SOFTMAX", (1,), (2,)), Op("LOGISTIC", (1,), (3,))]
    assert delegation([*heads, Op(DELEGATE, (0,), (2, 3))]) == Delegation(1, 3, 3)


def test_what_only_the_piece_feeds_is_in_it_though_it_gives_nothing_out() -> None:
    nodes = [Op("CONCATENATION", (0, 9), (1,)), Op("STRIDED_SLICE", (1,), (2,)), Op("ASSIGN_VARIABLE", (9, 2), ())]
    nodes += [Op("CONV_2D", (1,), (3,)), Op("ASSIGN_VARIABLE", (8, 3), ())]
    assert delegation([*nodes, Op(DELEGATE, (0, 9), (3,))]) == Delegation(1, 4, 5)
