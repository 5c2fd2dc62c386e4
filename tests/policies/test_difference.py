"""What changed between two values: complete, and in the words of their names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policies.difference import Change, difference

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert list(difference(value, value)) == []


@given(JSON, JSON)
@example({}, {"": None})
@example([{"id": "a"}, {"id": "b"}], [{"id": "b"}, {"id": "a"}])
def test_values_that_differ_differ_somewhere(before: Any, after: Any) -> None:
    assert bool(list(difference(before, after))) == (before != after)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"a": 1}, {"a": 2}, [Change("/a", 1, 2)]),
        ({}, {"a": {"b": 1}}, [Change("/a", None, {"b": 1})]),
        ({"denies": []}, {"denies": [{"id": "q"}]}, [Change("/denies/q", None, {"id": "q"})]),
        (
            {"denies": [{"id": "p"}, {"id": "q", "until": 1}]},
            {"denies": [{"id": "q", "until": 2}, {"id": "p"}]},
            [Change("/denies/order", ["p", "q"], ["q", "p"]), Change("/denies/q/until", 1, 2)],
        ),
        ({"denies": [{"id": "q"}]}, {"denies": [{"id": "p"}, {"id": "q"}]}, [Change("/denies/p", None, {"id": "p"})]),
        ({"l": [1, 2]}, {"l": [2, 1]}, [Change("/l", [1, 2], [2, 1])]),
    ],
)
def test_a_change_names_its_place_and_things_with_ids_by_their_id(
    before: Any, after: Any, changes: list[Change]
) -> None:
    assert list(difference(before, after)) == changes
