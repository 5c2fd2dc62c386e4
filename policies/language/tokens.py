"""Text of a condition → tokens that know their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class Sort(Enum):
    """What a token is. The names are those of the groups of `_TOKEN`."""

    NAME = auto()
    TEXT = auto()
    INTEGER = auto()
    NUMBER = auto()
    SIGN = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column in a text, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Token:
    """`text` as it is written; `value` is what a literal stands for."""

    sort: Sort
    text: str
    place: Place
    value: str | int | float | None = None


class Fault(Exception):
    """What is wrong with a condition, and where. `compile_condition` makes a ConditionError of it."""

    def __init__(self, detail: str, place: Place, *, expected: str | None = None, nearest: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.place = place
        self.expected = expected
        self.nearest = nearest


# A text ends on the line that it begins on, as in CEL.
_TEXT: Final = r"""(?:\\(?:[\\'"nrt]|u[0-9a-fA-F]{4})|[^\\'"\n\r])"""
_TOKEN: Final = re.compile(
    rf"""(?P<skip>[ \t\r\n\f]+|//[^\n]*)
    |(?P<NUMBER>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
    |(?P<INTEGER>\d+)
    |(?P<NAME>[A-Za-z_]\w*)
    |(?P<TEXT>"(?:{_TEXT}|')*"|'(?:{_TEXT}|")*')
    |(?P<SIGN>&&|\|\||[=!<>]=|[-+*/%?:<>!.,()\[\]])""",
    re.VERBOSE | re.ASCII,
)
_ESCAPE: Final = re.compile(r"\\(?:u(....)|(.))")
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t"}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def tokens(text: str) -> Iterator[Token]:
    """The tokens of `text`, the last one of sort END; raises Fault for a character that begins none."""
    at, line, line_start = 0, 1, 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        place = Place(line, at - line_start + 1)
        if found is None:
            raise Fault(_unreadable(text[at]), place)
        if found.lastgroup != "skip":
            yield _token(Sort[found.lastgroup or ""], found.group(), place)
        at = found.end()
        if "\n" in found.group():
            line += found.group().count("\n")
            line_start = found.start() + found.group().rindex("\n") + 1
    yield Token(Sort.END, "", Place(line, at - line_start + 1))


def _token(sort: Sort, text: str, place: Place) -> Token:
    if sort is Sort.TEXT:
        value = _ESCAPE.sub(_unescaped, text[1:-1])
        if _SURROGATE.search(value):
            raise Fault("half of a surrogate pair is no character", place)
        return Token(sort, text, place, value)
    return Token(sort, text, place, _number(text, sort, place) if sort in {Sort.INTEGER, Sort.NUMBER} else None)


def _unescaped(found: re.Match[str]) -> str:
    code, character = found.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(character, character)


def _number(text: str, sort: Sort, place: Place) -> int | float:
    """Numbers that 64 bits hold, as CEL reads them."""
    if len(text) > 25 or (sort is Sort.INTEGER and int(text) >= 2**63) or float(text) == float("inf"):
        raise Fault(f"{text[:25]} is too large a number", place, expected="a number of 64 bits")
    return int(text) if sort is Sort.INTEGER else float(text)


def _unreadable(character: str) -> str:
    if character in "'\"":
        return "a text that is not closed on its line, or holds an escape other than \\\\ \\' \\\" \\n \\r \\t \\uXXXX"
    return f"{character!r} begins nothing that the language knows"
