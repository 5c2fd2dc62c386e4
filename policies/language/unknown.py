"""Why a condition could not be answered: the facts it names that are not there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from policies.language.context import Context
from policies.language.functions import METHODS, PLAIN
from policies.language.syntax import Call, Literal, Member, Name, Node, Operation, Sequence


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below."""
    match node:
        case Member():
            return (node.of,)
        case Sequence():
            return node.items
        case Call():
            return node.arguments
        case Operation():
            return node.operands
        case _:
            return ()


def names_in(node: Node) -> frozenset[str]:
    """All names that a condition starts from, the variables of quantifiers among them."""
    if isinstance(node, Name):
        return frozenset({node.name})
    return frozenset().union(*(names_in(child) for child in children(node)))


def named_facts(node: Node) -> frozenset[tuple[str, str | None]]:
    """(root, fact below it) of all that a condition reads; None for a root that it goes over whole."""
    match node:
        case Member(of=Name(name=root), name=fact):
            return frozenset({(root, fact)})
        case Name(name=root):
            return frozenset({(root, None)})
        case _:
            return frozenset().union(*(named_facts(child) for child in children(node)))


def unknown_names(tree: Node, context: Context) -> tuple[str, ...]:
    """Facts that the condition names and nobody knows, and questions that have no answer, in the order they stand in.

    Where all are there, a caller gave one in another kind than the condition compares it with: then all are named.
    """
    return tuple(dict.fromkeys(_unknown(tree, context, {}))) or tuple(dict.fromkeys(_named(tree)))


def _unknown(node: Node, context: Context, bound: Mapping[str, tuple[str, list[Any]]]) -> Iterator[str]:
    match node:
        case Member():
            path, values = _values(node, context, bound)
            if None in values:
                yield path
        case Call(name="has"):
            yield from _unknown(_parent(node.arguments[0]), context, bound)
        case Call(name="exists" | "all" | "exists_one", arguments=(over, Name(name=variable), body)):
            yield from _unknown(over, context, bound)
            path, lists = _values(over, context, bound)
            items = [item for items in lists for item in items or ()]
            yield from _unknown(body, context, {variable: (f"{path}[]", items)})
        case Call():
            yield from _unanswered(node, context, bound)
        case _:
            for child in children(node):
                yield from _unknown(child, context, bound)


def _unanswered(node: Call, context: Context, bound: Mapping[str, tuple[str, list[Any]]]) -> Iterator[str]:
    """Facts that are missing; else the call itself, where our own function has no answer to what it is given."""
    missing = [name for argument in node.arguments for name in _unknown(argument, context, bound)]
    yield from missing
    function = (METHODS if node.is_method else PLAIN)[node.name]
    run = context.supports if node.name == "supports" else function.run
    if missing or run is None:
        return
    paths, values = zip(*(_values(argument, context, bound) for argument in node.arguments), strict=True)
    # Literals are one value each, a fact of the items of a list is many.
    if any(run(*given) is None for given in product(*values)):
        yield f"{node.name}({', '.join(paths)})"


def _parent(node: Node) -> Node:
    return node.of if isinstance(node, Member) else node


def _values(node: Node, context: Context, bound: Mapping[str, tuple[str, list[Any]]]) -> tuple[str, list[Any]]:
    """(how the condition calls it, what it can be): one value, or one for each item that a quantifier goes over."""
    match node:
        case Name(name=name):
            return bound.get(name) or (name, [context.values.get(name)])
        case Member(of=of, name=name):
            path, parents = _values(of, context, bound)
            return f"{path}.{name}", [parent.get(name) if isinstance(parent, Mapping) else None for parent in parents]
        case Literal(value=value):
            return json.dumps(value), [value]
        case _:
            return "…", []


def _named(node: Node) -> Iterator[str]:
    if isinstance(node, Member):
        yield f"{next(_named(node.of), '…')}.{node.name}"
    elif isinstance(node, Name):
        yield node.name
    else:
        for child in children(node):
            yield from _named(child)
