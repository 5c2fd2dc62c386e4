"""Tokens → syntax tree, for the part of CEL that conditions are written in. What it accepts, CEL reads the same way.

Left out of CEL: arithmetic, `? :`, maps, bytes, `map`, `filter`. A condition compares facts; it computes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from policies.language.tokens import Fault, Place, Sort, Token, tokens

MAX_LENGTH: Final = 2_000
MAX_DEPTH: Final = 20
MAX_TOKENS: Final = 400


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, a number, true or false."""

    value: str | int | float | bool
    place: Place


@dataclass(frozen=True, slots=True)
class Name:
    """A root, or the variable of a quantifier."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Member:
    """`of.name`, or `of["name"]`."""

    of: Node
    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list of literals."""

    items: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Call:
    """`name(arguments)`, or `receiver.name(arguments)` with the receiver as the first argument."""

    name: str
    arguments: tuple[Node, ...]
    is_method: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and its operands: one of `!` and `-`, two of a comparison, two or more of `&&` and `||`."""

    operator: str
    operands: tuple[Node, ...]
    place: Place


Node = Literal | Name | Member | Sequence | Call | Operation

_BINDING: Final = {"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "in": 3}
_COMPARISON: Final = 3
_UNARY: Final = 4
_CONSTANTS: Final = {"true": True, "false": False}
_RESERVED: Final = frozenset(
    {
        "as", "break", "const", "continue", "else", "for", "function", "if", "import", "in", "let", "loop", "namespace",
        "null", "package", "return", "var", "void", "while",
    }
)  # fmt: skip
_A_VALUE: Final = "a name, a literal, `!` or `(`"
_AN_OPERATOR: Final = "an operator (&& || == != < <= > >= in) or the end"


def parse(text: str) -> Node:
    """The tree of a condition; raises Fault for the first thing that is wrong or beyond a limit."""
    if len(text) > MAX_LENGTH:
        raise Fault(f"{len(text)} characters, at most {MAX_LENGTH} are taken", Place(1, 1))
    read = list(tokens(text))
    if len(read) > MAX_TOKENS:
        raise Fault(f"{len(read)} words and signs, at most {MAX_TOKENS} are taken", read[MAX_TOKENS].place)
    parser = _Parser(read)
    tree = parser.expression()
    if parser.next.sort is not Sort.END:
        raise parser.unexpected(_AN_OPERATOR)
    return tree


class _Parser:
    """Operator-precedence parsing (Pratt 1973). Depth and size are bounded while it reads."""

    def __init__(self, read: list[Token]) -> None:
        self._read = read
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> Token:
        return self._read[self._at]

    def unexpected(self, expected: str) -> Fault:
        found = f"`{self.next.text}`" if self.next.text else "the end"
        return Fault(f"expected {expected}, found {found}", self.next.place, expected=expected)

    def expression(self, binding: int = 0) -> Node:
        self._deeper()
        left = self._prefix()
        while (tighter := self._binding()) > binding:
            sign = self._take()
            left = _joined(left, sign, self.expression(tighter))
            if tighter == _COMPARISON == self._binding():
                raise self.unexpected("`&&`, `||` or the end after a comparison")
        self._depth -= 1
        return left

    def _binding(self) -> int:
        """How tightly the next token binds as an operator; 0 where it is none."""
        return _BINDING.get(self.next.text, 0) if self.next.sort in {Sort.SIGN, Sort.NAME} else 0

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Fault(f"nested deeper than {MAX_DEPTH} levels", self.next.place)

    def _take(self) -> Token:
        self._at += 1
        return self._read[self._at - 1]

    def _accept(self, sign: str) -> bool:
        if self.next.sort is Sort.SIGN and self.next.text == sign:
            self._at += 1
            return True
        return False

    def _demand(self, sign: str) -> None:
        if not self._accept(sign):
            raise self.unexpected(f"`{sign}`")

    def _prefix(self) -> Node:
        token = self.next
        if token.text in {"!", "-"} and token.sort is Sort.SIGN:
            self._take()
            return Operation(token.text, (self.expression(_UNARY),), token.place)
        return self._postfix(self._primary())

    def _primary(self) -> Node:
        token = self.next
        reader = _PRIMARY.get(token.sort) or _PRIMARY_SIGNS.get(token.text)
        if reader is None or token.text in _RESERVED:
            raise self.unexpected(_A_VALUE)
        self._take()
        return reader(self, token)

    def _literal(self, token: Token) -> Node:
        return Literal(token.value if token.value is not None else "", token.place)

    def _name(self, token: Token) -> Node:
        if token.text in _CONSTANTS:
            return Literal(_CONSTANTS[token.text], token.place)
        if self._accept("("):
            return Call(token.text, self._items(")"), False, token.place)
        return Name(token.text, token.place)

    def _group(self, _: Token) -> Node:
        inner = self.expression()
        self._demand(")")
        return inner

    def _list(self, token: Token) -> Node:
        return Sequence(self._items("]"), token.place)

    def _items(self, closing: str) -> tuple[Node, ...]:
        items: list[Node] = []
        while not self._accept(closing):
            if items:
                self._demand(",")
            items.append(self.expression())
        return tuple(items)

    def _postfix(self, node: Node) -> Node:
        depth = self._depth
        while self.next.text in {".", "["} and self.next.sort is Sort.SIGN:
            self._deeper()
            node = self._member(node) if self._take().text == "." else self._key(node)
        self._depth = depth
        return node

    def _member(self, of: Node) -> Node:
        token = self.next
        if token.sort is not Sort.NAME or token.text in _RESERVED | _CONSTANTS.keys():
            raise self.unexpected("a name after `.`")
        self._take()
        if self._accept("("):
            return Call(token.text, (of, *self._items(")")), True, token.place)
        return Member(of, token.text, token.place)

    def _key(self, of: Node) -> Node:
        token = self.next
        if token.sort is not Sort.TEXT:
            raise self.unexpected("a text between `[` and `]`")
        self._take()
        self._demand("]")
        return Member(of, str(token.value), token.place)


def _joined(left: Node, sign: Token, right: Node) -> Node:
    """`a && b && c` is one operation of three: a long chain is no deep tree."""
    if isinstance(left, Operation) and left.operator == sign.text and sign.text in {"&&", "||"}:
        return Operation(sign.text, (*left.operands, right), left.place)
    return Operation(sign.text, (left, right), sign.place)


_PRIMARY: Final[dict[Sort, Callable[[_Parser, Token], Node]]] = {
    Sort.TEXT: _Parser._literal,
    Sort.INTEGER: _Parser._literal,
    Sort.NUMBER: _Parser._literal,
    Sort.NAME: _Parser._name,
}
_PRIMARY_SIGNS: Final[dict[str, Callable[[_Parser, Token], Node]]] = {"(": _Parser._group, "[": _Parser._list}
