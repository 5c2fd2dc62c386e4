"""JSON from outside, read strictly: UTF-8, bounded in bytes and depth, no key twice, no NaN, no text that cannot be stored."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, Never

from policies.errors import BodyTooDeep, BodyTooLarge, MalformedJson

# A string that never ends matches up to the end of the body: were it left to fail, every quote in it would be tried anew.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.?)*+"?', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


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
        # Decoded here: `json` would take UTF-16 and UTF-32 as well, in which brackets hide from the count above.
        text = body.decode("utf-8")
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise MalformedJson(f"the body is not UTF-8: {error.reason} at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise MalformedJson(error.msg, line=error.lineno, column=error.colno) from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise MalformedJson(str(error)) from error
    if "\\u" in text and _unstorable(value):
        raise MalformedJson("a text holds NUL or half of a surrogate pair")
    return value


def nesting(body: bytes) -> int:
    """How deep arrays and objects nest, brackets inside strings not counted. Linear in the body."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _unstorable(value: Any) -> bool:
    """Whether a text in `value`, a key or a value, is one that UTF-8 or PostgreSQL cannot hold."""
    if isinstance(value, str):
        return _UNSTORABLE.search(value) is not None
    if isinstance(value, dict):
        return any(_unstorable(key) or _unstorable(child) for key, child in value.items())
    return isinstance(value, list) and any(_unstorable(child) for child in value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise MalformedJson(f"the key {twice!r} stands twice in one object", field=twice)
    return mapping


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):  # 1e999: not written as an infinity, and read as one
        raise MalformedJson(f"{digits[:32]} is too large a number")
    return number


def _constant(name: str) -> Never:
    raise MalformedJson(f"{name} is not a JSON number")
