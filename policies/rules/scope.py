"""What conditions depend on, and which facts they read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Final

from policies.language import Condition


class Scope(IntEnum):
    """What a condition depends on, from what changes least to what changes most."""

    DEVICE = 0
    MODEL = 1
    ARM = 2


_SCOPES: Final = {
    "model": Scope.MODEL,
    "history": Scope.MODEL,
    "arm": Scope.ARM,
    "variant": Scope.ARM,
    "coverage": Scope.ARM,
}


def scope_of(condition: Condition) -> Scope:
    """The most changing thing that a condition names."""
    return max((_SCOPES.get(root, Scope.DEVICE) for root in condition.roots), default=Scope.DEVICE)


Named = Mapping[str, frozenset[str] | None]
"""Root → the facts below it that any condition reads; None where one reads it whole."""


def named_by(conditions: Iterable[Condition]) -> Named:
    """What these conditions read together."""
    named: dict[str, frozenset[str] | None] = {}
    for root, fact in (read for condition in conditions for read in condition.facts):
        before = named.get(root, frozenset())
        named[root] = None if fact is None or before is None else before | {fact}
    return named
