"""A document as its author writes it, in YAML or JSON: a policy or plain flags. What is wrong is told with its line and column."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel

from policies import strict_json, strict_yaml
from policies.document import PolicyDocument, parse_document
from policies.errors import ConditionError, InvalidField, InvalidInput, MalformedJson, MalformedYaml
from policies.flags import FlagDocument
from policies.rules.arm_globs import check_globs
from policies.strict_yaml import Mark, Path, Source
from policies.validation import complaints, validated

MAX_JSON_BYTES: Final = 8 * 1024 * 1024
MAX_YAML_BYTES: Final = 2 * 1024 * 1024
MAX_DEPTH: Final = 12
YAML_TYPES: Final = frozenset({"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"})
"""RFC 9512, and the names from before it."""


M = TypeVar("M", bound=BaseModel)


def _policy(raw: Any) -> PolicyDocument:
    document = parse_document(raw)
    check_globs(document)
    return document


@dataclass(frozen=True, slots=True)
class Written(Generic[M]):
    """A kind of document: `parse` makes one of a JSON value, and raises InvalidField or ConditionError."""

    model: type[M]
    parse: Callable[[Any], M]


POLICY: Final = Written(PolicyDocument, _policy)
FLAGS: Final = Written(FlagDocument, partial(validated, FlagDocument))


def parse_document_text(body: bytes, *, media_type: str = "application/json") -> PolicyDocument:
    """The policy in `body`; raises what `parse_text` does."""
    return parse_text(POLICY, body, media_type=media_type)


def parse_text(written: Written[M], body: bytes, *, media_type: str) -> M:
    """The document in `body`, read as YAML where the media type says so, else as JSON.

    Raises MalformedJson, MalformedYaml, BodyTooLarge or BodyTooDeep for the text; InvalidField or ConditionError for
    the first thing wrong in it. `line` and `column` are those of the text.
    """
    if media_type in YAML_TYPES:
        text = _decoded(body)
        source = strict_yaml.loads(text, max_bytes=MAX_YAML_BYTES, max_depth=MAX_DEPTH)
        return _placed(written, source, text)
    return _of_json(written, body)


def faults_in(text: str, written: Written[Any] = POLICY) -> list[InvalidInput]:
    """All that is wrong with a document in YAML, by line; empty where it would be taken. Of a text that is no YAML the first."""
    try:
        source = strict_yaml.loads(text, max_bytes=MAX_YAML_BYTES, max_depth=MAX_DEPTH)
    except InvalidInput as error:
        return [error]
    found: list[InvalidField | ConditionError] = complaints(written.model, source.value)
    if not found:
        try:
            written.parse(source.value)
        except (InvalidField, ConditionError) as error:
            found = [error]
    return sorted((_at(error, source, text) for error in found), key=lambda fault: (fault.line or 0, fault.column or 0))


def _of_json(written: Written[M], body: bytes) -> M:
    """JSON is YAML enough to find places in: what is wrong is read again, only to say where."""
    try:
        raw = strict_json.loads(body, max_bytes=MAX_JSON_BYTES, max_depth=MAX_DEPTH)
        return written.parse(raw)
    except MalformedJson as error:
        if error.field is None:
            raise
        twice = _as_yaml(body)
        line, column = (twice.line, twice.column) if isinstance(twice, MalformedYaml) else (None, None)
        raise MalformedJson(error.reason, field=error.field, line=line, column=column) from error
    except (InvalidField, ConditionError):
        found = _as_yaml(body)
        if isinstance(found, InvalidInput):
            raise
        return _placed(written, Source(raw, found.marks), _decoded(body))


def _as_yaml(body: bytes) -> Source | InvalidInput:
    try:
        return strict_yaml.loads(_decoded(body), max_bytes=MAX_JSON_BYTES, max_depth=MAX_DEPTH)
    except InvalidInput as error:
        return error


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedYaml(f"the body is not UTF-8: {error.reason} at byte {error.start}") from error


def _placed(written: Written[M], source: Source, text: str) -> M:
    """The document; what is wrong with it is told with its place."""
    try:
        return written.parse(source.value)
    except (InvalidField, ConditionError) as error:
        raise _at(error, source, text) from error


def _at(error: InvalidField | ConditionError, source: Source, text: str) -> InvalidField | ConditionError:
    """The same complaint with its place in the text."""
    mark = _mark(source, error.field or "")
    whole = mark.key or (mark.line, mark.column)
    line, column = whole if error.line is None else _inside(mark, error, text)
    return type(error)(
        error.reason,
        field=error.field,
        limit=error.limit,
        line=line,
        column=column,
        expected=error.expected,
        nearest=error.nearest,
    )


def _mark(source: Source, field: str) -> Mark:
    """Where the field stands, or the nearest thing around it: a missing field stands nowhere."""
    path: Path = ()
    for name in field.split("."):
        for key in (name, int(name)) if name.isdecimal() else (name,):
            if (*path, key) in source.marks:
                path = (*path, key)
                break
    return source.marks[path]


def _inside(mark: Mark, error: InvalidField | ConditionError, text: str) -> tuple[int, int]:
    """The place in the document of a place in one of its texts; the text's own beginning where it was folded."""
    line, column = error.line or 1, error.column or 1
    lines = text.split("\n")
    if mark.style == "|":
        indent = len(lines[mark.line]) - len(lines[mark.line].lstrip(" "))
        return mark.line + line, indent + column
    if line > 1 or mark.style == ">":
        return mark.line, mark.column
    written = lines[mark.line - 1][mark.column - 1 :]
    if mark.style is None:
        return mark.line, mark.column + column - 1
    return mark.line, mark.column + 1 + _written_length(written[1:], column - 1, mark.style)


_WRITTEN: Final = {'"': re.compile(r"\\u[0-9a-fA-F]{4}|\\.|."), "'": re.compile(r"''|.")}


def _written_length(written: str, characters: int, style: str) -> int:
    """How long so many characters are as they are written, escapes and all."""
    return sum(len(found) for found in _WRITTEN[style].findall(written)[:characters])
