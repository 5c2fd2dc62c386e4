"""Which nodes delegates took over, read back from an interpreter: pure, over its list of nodes.

The interpreter keeps the nodes of the file and appends one for each piece that a delegate took. Such a piece computes its
outputs from its inputs, so it replaces the nodes between them, and those that read what it does not give out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

DELEGATE: Final = "DELEGATE"


@dataclass(frozen=True, slots=True)
class Op:
    """A node of an interpreter: the name of its operation, and numbers of its tensors, without optional holes."""

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Delegation:
    """`pieces` that the delegate runs, `delegated` nodes in them, of `total` nodes in the file."""

    pieces: int
    delegated: int
    total: int


def delegation(ops: Sequence[Op]) -> Delegation:
    """What was taken over. Without any piece, everything runs on the runtime's own kernels."""
    nodes = [op for op in ops if op.name != DELEGATE]
    pieces = [op for op in ops if op.name == DELEGATE]
    producer = {tensor: number for number, op in enumerate(nodes) for tensor in op.outputs}
    taken = {number for piece in pieces for number in _between(piece, nodes, producer)}
    return Delegation(len(pieces), len(taken), len(nodes))


def _between(piece: Op, nodes: Sequence[Op], producer: dict[int, int]) -> set[int]:
    """Numbers of the nodes of a piece: those that lead from its inputs to its outputs, and those that only they feed."""
    given, found = set(piece.inputs), set[int]()
    waiting = list(piece.outputs)
    while waiting:
        number = producer.get(waiting.pop())
        if number is not None and number not in found:
            found.add(number)
            waiting += (tensor for tensor in nodes[number].inputs if tensor not in given)
    return found | set(_hidden(piece, nodes, found))


def _hidden(piece: Op, nodes: Sequence[Op], found: set[int]) -> Iterable[int]:
    """Nodes without an output of the piece, as those that write variables: they read what never leaves it."""
    inner = {tensor for number in found for tensor in nodes[number].outputs} - set(piece.outputs)
    for number, op in enumerate(nodes):
        if number not in found and inner.intersection(op.inputs):
            inner.update(op.outputs)
            yield number
