"""Reading JSON of strangers: bounded before it is parsed, and nothing in it that cannot be stored (R-D6)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.errors import BodyTooDeep, BodyTooLarge, MalformedJson
from policies.strict_json import loads, nesting


def read(body: bytes) -> Any:
    return loads(body, max_bytes=1000, max_depth=3)


def test_the_limits_themselves_are_taken() -> None:
    assert read(b" " * 999 + b"1") == 1
    assert read(b'[[{"a": 1}]]') == [[{"a": 1}]]


def test_one_byte_or_one_level_more_is_refused_with_the_limit() -> None:
    with pytest.raises(BodyTooLarge) as large:
        read(b" " * 1000 + b"1")
    with pytest.raises(BodyTooDeep) as deep:
        read(b'[[{"a": []}]]')
    assert (large.value.limit, deep.value.limit) == (1000, 3)


@pytest.mark.parametrize("body", [rb'"[[[[["', rb'"\"[[[[["', rb'["\\", "[[[["]', '"∀[[[["'.encode()])
def test_brackets_in_texts_are_no_depth(body: bytes) -> None:
    assert read(body) == json.loads(body)


@pytest.mark.parametrize("body", [rb'"\\"[[[[', b'"a" [[[[', b'["]]]]", [[['])
def test_brackets_after_a_text_are_depth(body: bytes) -> None:
    with pytest.raises(BodyTooDeep):
        read(body)


@pytest.mark.parametrize(
    "body", [b'"' + rb"\"" * 130_000, b'"' + rb"\"" * 130_000 + b"\\", b'["' * 130_000], ids=["quotes", "cut", "open"]
)
def test_a_text_that_never_ends_is_read_once(body: bytes) -> None:
    # Were every quote in it the start of another attempt, this would take hours.
    with pytest.raises((MalformedJson, BodyTooDeep)):
        loads(body, max_bytes=len(body), max_depth=12)


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1"])
def test_only_utf_8_is_read(codec: str) -> None:
    with pytest.raises(MalformedJson):
        read('["é"]'.encode(codec))


@pytest.mark.parametrize(
    "body", [b"NaN", b"[Infinity]", b"-Infinity", b"1e999", b"-1e999", b"[1," + b"9" * 400 + b".0]"]
)
def test_what_is_no_number_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedJson):
        read(body)


def test_an_integer_that_python_would_not_convert_is_refused() -> None:
    with pytest.raises(MalformedJson):
        loads(b"9" * 5000, max_bytes=10_000, max_depth=3)


@pytest.mark.parametrize("body", [b'{"a": 1, "a": 1}', b'[{"b": {"a": 1, "b": 2, "a": 3}}]'])
def test_a_key_that_stands_twice_is_refused_by_its_name(body: bytes) -> None:
    with pytest.raises(MalformedJson) as caught:
        read(body)
    assert caught.value.field == "a"


@pytest.mark.parametrize("body", [rb'"\u0000"', rb'["a\ud800"]', rb'{"\udfff": 1}', rb'{"a": ["\u0000"]}'])
def test_text_that_cannot_be_stored_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedJson, match="NUL or half of a surrogate pair"):
        read(body)


def test_escapes_of_whole_characters_are_read() -> None:
    assert read(rb'["\u00e9", "\ud83d\ude42", "\\u0000", 1, null]') == ["é", "🙂", r"\u0000", 1, None]


@pytest.mark.parametrize("body", [b"", b"{", b"[1 2]", b"{'a': 1}", b"[1,]", b'"a\nb"'])
def test_what_is_no_json_is_refused_with_the_place(body: bytes) -> None:
    with pytest.raises(MalformedJson, match="line 1"):
        read(body)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('[]{}"\\ab', max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_json_writes_is_read_back(value: Any) -> None:
    assert loads(json.dumps(value).encode(), max_bytes=10**6, max_depth=20) == value


def depth_of(value: Any) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if children is None else 1 + max(map(depth_of, children), default=0)


@given(VALUES)
def test_nesting_is_the_depth_of_the_value(value: Any) -> None:
    assert nesting(json.dumps(value, ensure_ascii=False).encode()) == depth_of(value)
