"""Assignment on the device (R-C9): the same buckets in every language, sticky shares, no draw without an id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnfleet_client import AssignedBy, InvalidUnitIdError, bucket_of, normalise_unit_id
from nnfleet_client.assign import BUCKETS, assign, bucket_of_hash, split_at
from nnfleet_client.document import Split

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "assign.json").read_text("utf-8"))
MASK = 0xFFFFFFFF


def murmur3_32(key: bytes) -> int:
    """MurmurHash3_x86_32 with seed 0, written from its description and not from the library under test."""
    hashed = 0
    body, tail = key[: len(key) & ~3], key[len(key) & ~3 :]
    for start in range(0, len(body), 4):
        hashed ^= scrambled(int.from_bytes(body[start : start + 4], "little"))
        hashed = (rotated(hashed, 13) * 5 + 0xE6546B64) & MASK
    hashed ^= scrambled(int.from_bytes(tail, "little"))
    hashed ^= len(key)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        hashed ^= hashed >> shift
        hashed = hashed * factor & MASK
    return hashed


def scrambled(block: int) -> int:
    return rotated(block * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK


def rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & MASK


def splits_of(*weights: int) -> list[Split]:
    return [Split(weight, ("cpu",)) for weight in weights]


@pytest.mark.parametrize("row", VECTORS["rows"], ids=lambda row: f"{row['salt']}:{row['unit_id'][:20]}")
def test_every_published_bucket_is_reproduced(row: dict[str, Any]) -> None:
    assert bucket_of(row["salt"], normalise_unit_id(row["unit_id"])) == row["bucket"]


@pytest.mark.parametrize("row", VECTORS["rows"], ids=lambda row: f"{row['salt']}:{row['unit_id'][:20]}")
def test_every_published_hash_agrees_with_a_second_implementation(row: dict[str, Any]) -> None:
    assert murmur3_32(f"{row['salt']}:{normalise_unit_id(row['unit_id'])}".encode()) == row["hash"]


@pytest.mark.parametrize("row", VECTORS["buckets_of_hashes"], ids=lambda row: hex(row["hash"]))
def test_the_edges_of_the_hash_fall_into_their_buckets_without_division(row: dict[str, int]) -> None:
    assert bucket_of_hash(row["hash"]) == row["bucket"]


@pytest.mark.parametrize("row", VECTORS["splits"], ids=str)
def test_every_published_bucket_falls_into_its_split(row: dict[str, Any]) -> None:
    assert split_at(splits_of(*row["weights"]), row["bucket"]) == row["split"]


def test_composed_and_decomposed_forms_of_an_id_are_one_unit() -> None:
    assert normalise_unit_id("caf\u00e9") == normalise_unit_id("cafe\u0301")


def test_spaces_and_case_of_an_id_are_kept() -> None:
    assert normalise_unit_id(" Unit-1 ") == " Unit-1 "


@pytest.mark.parametrize("unit_id", [*VECTORS["refused_unit_ids"], "\ud800"], ids=repr)
def test_an_id_that_no_two_languages_hash_alike_is_refused(unit_id: str) -> None:
    with pytest.raises(InvalidUnitIdError):
        normalise_unit_id(unit_id)


@given(st.text(min_size=1).filter(lambda text: text.isprintable()))
def test_normalising_twice_changes_nothing(unit_id: str) -> None:
    once = normalise_unit_id(unit_id)
    assert normalise_unit_id(once) == once


@given(st.binary(max_size=64).map(lambda raw: raw.hex()), st.integers(0, 9_999), st.integers(0, 9_999))
def test_raising_the_first_share_keeps_everyone_already_in(unit_id: str, one: int, other: int) -> None:
    low, high = sorted((one, other))
    if assign(splits_of(low, 10_000 - low), "seg-7", unit_id).split_index == 0:
        assert assign(splits_of(high, 10_000 - high), "seg-7", unit_id).split_index == 0


def test_buckets_are_uniform_over_units_for_many_salts() -> None:
    # 25 % of 4,000 units: four standard deviations are 110. Running numbers are where weak hashes fail.
    for salt in range(40):
        inside = sum(bucket_of(f"salt-{salt}", str(unit)) < BUCKETS // 4 for unit in range(4_000))
        assert abs(inside - 1_000) < 110


def test_two_salts_draw_independently() -> None:
    both = sum(
        bucket_of("a", str(unit)) < BUCKETS // 2 and bucket_of("b", str(unit)) < BUCKETS // 2 for unit in range(4_000)
    )
    assert abs(both - 1_000) < 110


@pytest.mark.parametrize("unit_id", [None, "unit-1"])
def test_a_whole_share_is_served_with_and_without_an_id(unit_id: str | None) -> None:
    assignment = assign(splits_of(0, 10_000), "seg-7", unit_id)
    assert (assignment.split_index, assignment.assigned_by) == (1, AssignedBy.SINGLE_SPLIT)


def test_without_an_id_nobody_is_drawn_into_exploring() -> None:
    splits = [Split(200, ("gpu",), explore=True), Split(9_800, ("npu",))]
    assignments = {assign(splits, "seg-7", None) for _ in range(20)}
    assert [(found.split_index, found.assigned_by) for found in assignments] == [(1, AssignedBy.NO_UNIT)]


@pytest.mark.parametrize("weights", [(3_000, 7_000), (9_000, 1_000), (1, 9_999), (9_999, 1), (3_000, 7_000, 0)])
def test_without_an_id_nobody_is_in_the_share_that_grows(weights: tuple[int, ...]) -> None:
    found = {assign(splits_of(*weights), "seg-7", None) for _ in range(20)}
    assert [(one.split_index, one.assigned_by) for one in found] == [(1, AssignedBy.NO_UNIT)]


def test_without_an_id_and_with_nothing_but_exploring_the_first_split_is_served() -> None:
    splits = [Split(5_000, ("gpu",), explore=True), Split(5_000, ("npu",), explore=True)]
    assert assign(splits, "seg-7", None).split_index == 0


def test_a_bucket_outside_the_weights_is_a_mistake_and_not_the_last_split() -> None:
    with pytest.raises(ValueError, match="outside"):
        split_at(splits_of(100), 100)
