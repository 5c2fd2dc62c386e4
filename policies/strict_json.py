"""JSON from outside, read strictly: bounded in bytes and depth, no key twice, no NaN."""

from __future__ import annotations

import json
import re
from typing import Any, Never

from policies.errors import BodyTooDeep, BodyTooLarge, MalformedJson

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")


def loads(body: bytes, *, max_bytes: int, max_depth: int) -> Any:
    """The value in `body`.

    Raises BodyTooLarge, BodyTooDeep (found before the parser recurses) or MalformedJson.
    """
    if len(body) > max_bytes:
        raise BodyTooLarge(f"the body has {len(body)} bytes, at most {max_bytes} are taken", limit=max_bytes)
    depth = nesting(body)
    if depth > max_depth:
        raise BodyTooDeep(f"the body nests {depth} levels, at most {max_depth} are taken", limit=max_depth)
    try:
        return json.loads(body, object_pairs_hook=_object, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise MalformedJson(f"the body is not UTF-8: {error.reason} at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise MalformedJson(f"{error.msg} at line {error.lineno}, column {error.colno}") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise MalformedJson(str(error)) from error


def nesting(body: bytes) -> int:
    """How deep arrays and objects nest, brackets inside strings not counted. Linear in the body."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise MalformedJson(f"the key {twice!r} stands twice in one object", field=twice)
    return mapping


def _constant(name: str) -> Never:
    raise MalformedJson(f"{name} is not a JSON number")
