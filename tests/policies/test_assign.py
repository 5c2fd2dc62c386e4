"""Sticky assignment: the shared vectors, and what raising a share may never do (R-C9)."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.assign import BUCKETS, HASH, bucket, choose

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "assign.json").read_text("utf-8"))
UNITS = [f"unit-{number}" for number in range(1000)]


def test_the_vectors_are_of_the_rule_that_documents_name() -> None:
    assert VECTORS["hash"] == HASH


@pytest.mark.parametrize("row", VECTORS["rows"], ids=lambda row: f"{row['salt']}:{row['unit_id']!a}"[:40])
def test_every_language_gets_the_same_bucket(row: dict[str, Any]) -> None:
    assert bucket(row["salt"], row["unit_id"]) == row["bucket"]
    assert (row["hash"] * BUCKETS) >> 32 == row["bucket"]


def test_composed_and_decomposed_letters_are_one_unit() -> None:
    assert bucket("seg", "caf\u00e9") == bucket("seg", "cafe\u0301")


@given(salt=st.text(), unit=st.text(st.characters(codec="utf-8")))
def test_a_bucket_is_one_of_ten_thousand(salt: str, unit: str) -> None:
    assert 0 <= bucket(salt.encode("utf-8", "replace").decode(), unit) < BUCKETS


@pytest.mark.parametrize("salt", [f"salt-{number}" for number in range(20)])
def test_a_quarter_of_a_thousand_running_ids_is_a_quarter_within_four_sigma(salt: str) -> None:
    chosen = sum(bucket(salt, unit) < 2500 for unit in UNITS)
    assert abs(chosen - 250) <= 4 * sqrt(1000 * 0.25 * 0.75)


weights = st.lists(st.integers(0, 4000), min_size=1, max_size=4).filter(lambda w: sum(w) <= BUCKETS)


@given(weights=weights, number=st.integers(0, BUCKETS - 1))
def test_a_unit_gets_the_split_that_holds_its_bucket_or_none(weights: list[int], number: int) -> None:
    index = choose(weights, number)
    if index is None:
        assert number >= sum(weights)
    else:
        assert sum(weights[:index]) <= number < sum(weights[: index + 1])


@given(first=st.integers(0, BUCKETS), more=st.integers(0, BUCKETS), number=st.integers(0, BUCKETS - 1))
def test_raising_the_first_share_keeps_everyone_who_is_in(first: int, more: int, number: int) -> None:
    raised = min(BUCKETS, first + more)
    if choose([first, BUCKETS - first], number) == 0:
        assert choose([raised, BUCKETS - raised], number) == 0


@given(number=st.integers(0, BUCKETS - 1))
def test_all_is_all_and_nothing_is_nothing(number: int) -> None:
    assert choose([BUCKETS], number) == 0
    assert choose([0], number) is None
    assert choose([0, BUCKETS], number) == 1
