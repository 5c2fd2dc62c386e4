"""What NNAPI takes of a LiteRT graph: by feature level alone, or as a probe measured it on a driver. Pure.

A key passes two gates: LiteRT's NNAPI delegate has to map the operation and the element type at that level, and the
driver has to take the NNAPI operations that stand for it. Only the second can be measured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from policies.coverage import Support
from policies.graph import ModelGraph
from policies.operations import LITERT_OPERATIONS, NNAPI_OPERATIONS, LitertOperation, operand_type
from policies.vocabulary import FEATURE_LEVEL_VALUES

LEVELS = range(1, len(FEATURE_LEVEL_VALUES) + 1)


def support_by_level(level: int) -> Support:
    """What the runtime maps to NNAPI at feature level 1…8: the most that any driver of that level can take."""
    return lambda key: _mapped(key, level)


def nnapi_support(supports: Mapping[str, Collection[str]] | None, level: int | None) -> Support:
    """What a driver takes, from its measured `supports`: NNAPI operation → operand types that it said yes to.

    `supports` lists what is supported: an operation or type that is missing was refused; None means that nobody
    asked. Where `level` is None the answer is unknown unless it is the same at every level.
    """
    levels = LEVELS if level is None else (level,)
    return lambda key: _unanimous(_taken(key, supports, at) for at in levels)


def minimum_feature_level(graph: ModelGraph) -> int | None:
    """The level at which NNAPI takes all of the graph that it ever will; None where that is nothing.

    Control flow counts with the level of NNAPI's own IF and WHILE.
    """
    needed = [level for node in graph.nodes if (level := _since(node.op, node.activation)) is not None]
    return max(needed, default=None)


def _since(op: str, element_type: str) -> int | None:
    operation = LITERT_OPERATIONS.get(op)
    if operation is None:
        return None
    if op in {"IF", "WHILE"}:
        return NNAPI_OPERATIONS[op].since_level
    return operation.types.get(element_type)


def _mapped(key: str, level: int) -> bool | None:
    op, _, element_type = key.partition("|")
    operation = LITERT_OPERATIONS.get(op)
    if operation is None:
        # A custom operation never leaves the runtime; a builtin that is newer than the table may.
        return False if op.startswith("CUSTOM:") else None
    since = operation.types.get(element_type)
    return since is not None and since <= level


def _taken(key: str, supports: Mapping[str, Collection[str]] | None, level: int) -> bool | None:
    mapped = _mapped(key, level)
    if not mapped or supports is None:
        return None if mapped else mapped
    op, _, element_type = key.partition("|")
    return _listed(LITERT_OPERATIONS[op], element_type, level, supports)


def _listed(operation: LitertOperation, element_type: str, level: int, supports: Mapping[str, Collection[str]]) -> bool:
    operand = operand_type(element_type, level)
    for name in operation.lowering(level):
        types = supports.get(name, ())
        # Where an operation's tensors differ in type, any type in the list says that it is supported.
        if not (operand in types if NNAPI_OPERATIONS[name].operand_types else types):
            return False
    return True


def _unanimous(answers: Iterable[bool | None]) -> bool | None:
    distinct = set(answers)
    return distinct.pop() if len(distinct) == 1 else None
