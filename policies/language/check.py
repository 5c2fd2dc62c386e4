"""Syntax tree × vocabulary → what a condition names; faults with what was expected and the nearest known name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from policies.language.functions import METHODS, PLAIN, Function, Parameter, Refused
from policies.language.kinds import INTEGER, NUMBER, OPEN, TEXT, YES_NO, Kind, ListOf, Open, Record, Scalar, is_text
from policies.language.syntax import Call, Literal, Member, Name, Node, Operation, Sequence
from policies.language.tokens import Fault, Place
from policies.nearest import did_you_mean, nearest

QUANTIFIERS: Final = ("exists", "all", "exists_one")
MAX_QUANTIFIERS: Final = 4
"""In one condition, none inside another: their cost is the length of a list, never a product of lengths."""

_NUMERIC: Final = frozenset({INTEGER.name, NUMBER.name})


def check(tree: Node, vocabulary: Mapping[str, Kind]) -> None:
    """Raises Fault unless the condition is a yes or no over known names of fitting kinds."""
    checker = _Checker(vocabulary)
    kind = checker.kind_of(tree)
    if not _is(kind, YES_NO):
        raise _mismatch(YES_NO.name, kind, tree.place)


class _Checker:
    def __init__(self, vocabulary: Mapping[str, Kind]) -> None:
        self._vocabulary = vocabulary
        self._bound: dict[str, Kind] = {}
        self._quantifiers = 0

    def kind_of(self, node: Node) -> Kind:
        return _RULES[type(node)](self, node)

    def literal(self, node: Literal) -> Kind:
        return _LITERAL_KINDS[type(node.value)]

    def name(self, node: Name) -> Kind:
        known = self._bound | dict(self._vocabulary)
        if node.name not in known:
            raise _unknown_name(node.name, known, "one of " + ", ".join(sorted(known)), node.place)
        return known[node.name]

    def member(self, node: Member) -> Kind:
        of = self.kind_of(node.of)
        if isinstance(of, Open):
            return OPEN
        if not isinstance(of, Record):
            raise Fault(f"{of.name} has no `{node.name}`", node.place, expected="a fact with parts before the `.`")
        if node.name not in of.fields:
            expected = f"a fact of {of.name}: " + ", ".join(of.fields)
            raise _unknown_name(node.name, of.fields, expected, node.place)
        return of.fields[node.name]

    def sequence(self, node: Sequence) -> Kind:
        kinds = [self.kind_of(item) for item in node.items]
        for item, kind in zip(node.items, kinds, strict=True):
            if not _comparable(kind, kinds[0]) or not _is_literal(item):
                raise Fault("a list holds literals of one kind", item.place, expected=kinds[0].name)
        return ListOf(kinds[0]) if kinds else OPEN

    def operation(self, node: Operation) -> Kind:
        _OPERATIONS[node.operator](self, node)
        return self.kind_of(node.operands[0]) if node.operator == "-" else YES_NO

    def logic(self, node: Operation) -> None:
        for operand in node.operands:
            kind = self.kind_of(operand)
            if not _is(kind, YES_NO):
                raise _mismatch(YES_NO.name, kind, operand.place)

    def negative(self, node: Operation) -> None:
        if not isinstance(node.operands[0], Literal) or self.kind_of(node.operands[0]).name not in _NUMERIC:
            raise Fault("`-` stands before a literal number", node.place, expected="a number")

    def equality(self, node: Operation) -> None:
        left, right = (self.kind_of(operand) for operand in node.operands)
        if not _comparable(left, right):
            raise _mismatch(left.name, right, node.operands[1].place)
        _spelling(left, node.operands[1])
        _spelling(right, node.operands[0])

    def order(self, node: Operation) -> None:
        kinds = [self.kind_of(operand) for operand in node.operands]
        for kind, other in zip(kinds, reversed(node.operands), strict=True):
            _spelling(kind, other)
        for kind, operand in zip(kinds, node.operands, strict=True):
            if not isinstance(kind, Open) and kind.name not in _NUMERIC:
                hint = "; texts have no order, versions do: dotted(), semver(), build()" if is_text(kind) else ""
                raise Fault(f"expected a number, found {kind.name}{hint}", operand.place, expected="a number")

    def membership(self, node: Operation) -> None:
        item, within = node.operands
        sought, among = self.kind_of(item), self.kind_of(within)
        if isinstance(among, Open):
            return
        if not isinstance(among, ListOf):
            raise _mismatch("a list after `in`", among, within.place)
        if not _comparable(sought, among.item):
            raise _mismatch(among.item.name, sought, item.place)
        for literal in within.items if isinstance(within, Sequence) else ():
            _spelling(sought, literal)
        _spelling(among.item, item)

    def call(self, node: Call) -> Kind:
        if node.is_method and node.name in QUANTIFIERS:
            return self._quantifier(node)
        if not node.is_method and node.name == "has":
            return self._has(node)
        return self._function(node)

    def _quantifier(self, node: Call) -> Kind:
        over = self.kind_of(node.arguments[0])
        self._quantifiers += 1
        if self._bound or self._quantifiers > MAX_QUANTIFIERS:
            detail = f"at most {MAX_QUANTIFIERS} quantifiers in a condition, and none inside another"
            raise Fault(detail, node.place, expected="one quantifier after another")
        if not isinstance(over, ListOf):
            raise _mismatch(f"a list before `.{node.name}`", over, node.arguments[0].place)
        if len(node.arguments) != 3 or not isinstance(node.arguments[1], Name):
            raise Fault(f"`{node.name}` takes a new name and a condition", node.place, expected=f"{node.name}(a, …)")
        variable = node.arguments[1]
        if variable.name in self._vocabulary:
            raise Fault(f"`{variable.name}` has a meaning already", variable.place, expected="a new name")
        self._bound = {variable.name: over.item}
        self.logic(Operation(node.name, node.arguments[2:], node.place))
        self._bound = {}
        return YES_NO

    def _has(self, node: Call) -> Kind:
        if len(node.arguments) != 1 or not isinstance(node.arguments[0], Member):
            raise Fault("`has` takes one fact with a `.`", node.place, expected="has(device.soc)")
        self.kind_of(node.arguments[0])
        return YES_NO

    def _function(self, node: Call) -> Kind:
        table = METHODS if node.is_method else PLAIN
        function = table.get(node.name)
        if function is None:
            known = (*METHODS, *QUANTIFIERS) if node.is_method else (*PLAIN, "has")
            raise _unknown_name(f"{node.name}", known, "one of " + ", ".join(known), node.place)
        given = node.arguments[1:] if node.is_method else node.arguments
        if function.of is not None:
            self._receiver(function, node.arguments[0])
        if len(given) != len(function.parameters):
            names = ", ".join(parameter.name for parameter in function.parameters)
            raise Fault(f"`{node.name}` takes ({names})", node.place, expected=f"{len(function.parameters)} values")
        for parameter, argument in zip(function.parameters, given, strict=True):
            self._argument(parameter, argument)
        return function.result

    def _receiver(self, function: Function, node: Node) -> None:
        kind = self.kind_of(node)
        fits = {
            TEXT.name: is_text(kind),
            "a list or a text": is_text(kind) or isinstance(kind, ListOf),
            "an accelerator": kind.name == "an accelerator",
        }
        if not fits[function.of or ""]:
            raise _mismatch(f"{function.of} before `.{function.name}`", kind, node.place)

    def _argument(self, parameter: Parameter, node: Node) -> None:
        kind = self.kind_of(node)
        if not _is(kind, parameter.kind):
            raise _mismatch(parameter.kind.name, kind, node.place)
        if parameter.check is None:
            return
        if not isinstance(node, Literal):
            raise Fault(f"the {parameter.name} is written out", node.place, expected="a literal text")
        try:
            parameter.check(str(node.value))
        except Refused as refused:
            close = nearest(str(node.value), refused.known)
            raise Fault(
                f"expected {refused}, found {node.value!r}{did_you_mean(close)}",
                node.place,
                expected=str(refused),
                nearest=close,
            ) from refused


def _is(kind: Kind, wanted: Scalar) -> bool:
    return isinstance(kind, Open) or kind.name == wanted.name


def _comparable(one: Kind, other: Kind) -> bool:
    if isinstance(one, Open) or isinstance(other, Open):
        return True
    if not (isinstance(one, Scalar) and isinstance(other, Scalar)):
        return False
    return one.name == other.name or {one.name, other.name} <= _NUMERIC


def _is_literal(node: Node) -> bool:
    return isinstance(node, Literal) or (isinstance(node, Operation) and node.operator == "-")


def _spelling(kind: Kind, node: Node) -> None:
    """A text or a number that the fact can never be is a typo: no phone would ever match it."""
    if not isinstance(kind, Scalar) or not isinstance(node, Literal):
        return
    if isinstance(node.value, int) and kind.counted is not None:
        _counting(node, kind.counted(node.value))
    if isinstance(node.value, str):
        _writing(kind, node, node.value)


def _counting(node: Literal, number: int | None) -> None:
    if number is not None and number != node.value:
        raise Fault(
            f"fingerprints count {node.value} as {number}", node.place, expected=str(number), nearest=str(number)
        )


def _writing(kind: Scalar, node: Literal, text: str) -> None:
    if kind.words and text not in kind.words:
        raise _unknown_name(text, kind.words, "one of " + ", ".join(kind.words), node.place)
    if kind.canonical is not None and (canonical := kind.canonical(text)) != text:
        detail = f"fingerprints call {text!r} {canonical!r}"
        raise Fault(detail, node.place, expected=f'"{canonical}"', nearest=canonical)


def _unknown_name(written: str, known: Iterable[str], expected: str, place: Place) -> Fault:
    close = nearest(written, known)
    return Fault(f"`{written}` is not known{did_you_mean(close)}", place, expected=expected, nearest=close)


def _mismatch(expected: str, found: Kind, place: Place) -> Fault:
    return Fault(f"expected {expected}, found {found.name}", place, expected=expected)


_LITERAL_KINDS: Final[dict[type, Kind]] = {bool: YES_NO, int: INTEGER, float: NUMBER, str: TEXT}
_RULES: Final[dict[type, Callable[..., Kind]]] = {
    Literal: _Checker.literal,
    Name: _Checker.name,
    Member: _Checker.member,
    Sequence: _Checker.sequence,
    Call: _Checker.call,
    Operation: _Checker.operation,
}
_OPERATIONS: Final[dict[str, Callable[[_Checker, Operation], None]]] = {
    "||": _Checker.logic,
    "&&": _Checker.logic,
    "!": _Checker.logic,
    "-": _Checker.negative,
    "==": _Checker.equality,
    "!=": _Checker.equality,
    "in": _Checker.membership,
    **dict.fromkeys(("<", "<=", ">", ">="), _Checker.order),
}
