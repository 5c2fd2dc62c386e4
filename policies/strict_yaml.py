"""YAML from operators, read strictly: bounded in bytes and depth, no key twice, no anchors, no tags.

Plain scalars mean what they mean in JSON: `null`, `true`, `false` and numbers; all else is text, `no` and `1:30` too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

import yaml

from policies.errors import BodyTooDeep, BodyTooLarge, MalformedYaml

Path = tuple[str | int, ...]

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml where PyYAML was built with it: the same events, fifteen times as fast."""

_CONSTANTS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER: Final = re.compile(r"-?(?:0|[1-9]\d{0,18})", re.ASCII)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a value begins: line and column from 1, and how it is written (None for plain, else `'` `"` `|` `>`).

    `key` is where its key begins, for what stands in a mapping.
    """

    line: int
    column: int
    style: str | None = None
    key: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A value and where each part of it stands in the text."""

    value: Any
    marks: Mapping[Path, Mark]


def loads(text: str, *, max_bytes: int, max_depth: int) -> Source:
    """The value in `text`; raises BodyTooLarge, BodyTooDeep or MalformedYaml, with line and column."""
    if len(text.encode(errors="surrogatepass")) > max_bytes:
        raise BodyTooLarge(f"the text is longer than {max_bytes} bytes", limit=max_bytes)
    try:
        return _Reader(yaml.parse(text, Loader=_LOADER), max_depth).read()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise MalformedYaml(error.problem or "no YAML", line=line, column=column) from error
    except yaml.YAMLError as error:  # a character that YAML does not take
        raise MalformedYaml(str(error).splitlines()[0]) from error


class _Reader:
    """Values from libyaml's events: it never recurses deeper than it was allowed to."""

    def __init__(self, events: Iterator[Any], max_depth: int) -> None:
        self._events = events
        self._max_depth = max_depth
        self._marks: dict[Path, Mark] = {}

    def read(self) -> Source:
        first = self._next()
        while not isinstance(first, yaml.NodeEvent):
            if isinstance(first, yaml.StreamEndEvent):
                raise MalformedYaml("the text is empty", line=1, column=1)
            first = self._next()
        value = self._value(first, ())
        after = [event for event in self._events if isinstance(event, yaml.NodeEvent)]
        if after:
            raise _fault("a second document begins", after[0])
        return Source(value, self._marks)

    def _next(self) -> Any:
        return next(self._events)

    def _value(self, event: Any, path: Path) -> Any:
        if len(path) > self._max_depth:
            line, column = _place(event)
            detail = f"nested deeper than {self._max_depth} levels"
            raise BodyTooDeep(detail, limit=self._max_depth, line=line, column=column)
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise _fault("anchors and aliases are not taken: write it out", event)
        if event.tag not in {None, "!"}:
            raise _fault(f"the tag {event.tag} is not taken", event)
        self._marks.setdefault(path, Mark(*_place(event), _style(event)))
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return _scalar(event)

    def _mapping(self, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(key := self._next(), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise _fault("a key is a text", key)
            if key.value in found:
                raise _fault(f"the key {key.value!r} stands twice", key)
            event = self._next()
            self._marks[*path, key.value] = Mark(*_place(event), _style(event), key=_place(key))
            found[key.value] = self._value(event, (*path, key.value))
        return found

    def _sequence(self, path: Path) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            found.append(self._value(event, (*path, len(found))))
        return found


def _scalar(event: Any) -> Any:
    text = event.value
    if "\x00" in text:
        raise _fault("a text holds NUL", event)
    if _style(event) is not None:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    number = float(text) if _NUMBER.fullmatch(text) else None
    if number is not None and not isfinite(number):
        raise _fault(f"{text[:32]} is too large a number", event)
    return text if number is None else number


def _style(event: Any) -> str | None:
    """How a scalar is quoted; libyaml calls plain ones an empty text."""
    return getattr(event, "style", None) or None


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _fault(detail: str, event: Any) -> MalformedYaml:
    line, column = _place(event)
    return MalformedYaml(detail, line=line, column=column)
