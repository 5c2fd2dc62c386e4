"""The latency histogram (R-D2): fixed buckets, exact merging, a stated error."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnfleet_client import Histogram, InvalidHistogramError
from nnfleet_client.histogram import bucket_index, bucket_value_us

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "histogram.json").read_text("utf-8"))
EXACT_GAMMA = Fraction(51, 50)

counts = st.dictionaries(st.integers(0, 1_500), st.integers(1, 10_000), max_size=20)
latencies = st.lists(st.integers(1, 600_000_000), min_size=1, max_size=60)


def histogram_of(latencies_us: list[int]) -> Histogram:
    histogram = Histogram()
    for latency_us in latencies_us:
        histogram.record(latency_us)
    return histogram


def wire(raw: dict[str, int]) -> dict[str, Any]:
    return {"gamma": 1.02, "counts": raw}


@pytest.mark.parametrize("row", VECTORS["buckets"], ids=lambda row: str(row["latency_us"]))
def test_every_published_latency_falls_into_its_bucket(row: dict[str, Any]) -> None:
    assert bucket_index(row["latency_us"]) == row["bucket"]


@pytest.mark.parametrize("row", VECTORS["quantiles"], ids=lambda row: f"{len(row['latencies_us'])}-{row['quantile']}")
def test_every_published_quantile_is_reproduced(row: dict[str, Any]) -> None:
    quantile_us = histogram_of(row["latencies_us"]).quantile_us(row["quantile"])
    assert quantile_us == pytest.approx(row["value_us"], abs=1e-5)
    assert quantile_us == bucket_value_us(row["bucket"])


@pytest.mark.parametrize("row", VECTORS["merges"], ids=["halves", "empty"])
def test_every_published_merge_is_reproduced(row: dict[str, Any]) -> None:
    left, right = Histogram.from_json(wire(row["left"])), Histogram.from_json(wire(row["right"]))
    assert left.merge(right).to_json() == wire(row["merged"])


def test_whole_microseconds_beside_a_boundary_fall_on_the_right_side_of_it() -> None:
    for index in range(1, 1_120):  # up to an hour
        below = math.floor(EXACT_GAMMA**index)  # no boundary is a whole number, so both neighbours are clear cases
        assert bucket_index(below) <= index < bucket_index(below + 1)


@given(counts, counts, counts)
def test_merging_is_associative_and_commutative(
    one: dict[int, int], two: dict[int, int], three: dict[int, int]
) -> None:
    a, b, c = Histogram(one), Histogram(two), Histogram(three)
    assert a.merge(b).merge(c) == a.merge(b.merge(c)) == c.merge(b).merge(a)


@given(latencies, latencies)
def test_merging_equals_recording_everything_in_one_place(one: list[int], two: list[int]) -> None:
    assert histogram_of(one).merge(histogram_of(two)) == histogram_of(one + two)


@given(latencies, st.fractions(0, 1))
def test_a_quantile_is_within_one_percent_of_the_element_of_upper_rank(recorded: list[int], share: Fraction) -> None:
    quantile = float(share)
    rank = max(1, math.ceil(quantile * len(recorded)))
    element_us = sorted(recorded)[rank - 1]
    assert histogram_of(recorded).quantile_us(quantile) == pytest.approx(element_us, rel=0.01)


@given(counts)
def test_the_wire_form_loses_nothing(raw: dict[int, int]) -> None:
    assert Histogram.from_json(json.loads(json.dumps(Histogram(raw).to_json()))) == Histogram(raw)


def test_merging_leaves_both_sides_as_they_were() -> None:
    left, right = Histogram({1: 1}), Histogram({1: 2})
    left.merge(right)
    assert (left.counts, right.counts) == ({1: 1}, {1: 2})


@pytest.mark.parametrize("latency_us", [-1, -0.001, math.nan, math.inf])
def test_an_impossible_latency_is_refused(latency_us: float) -> None:
    with pytest.raises(ValueError, match="latency"):
        Histogram().record(latency_us)


@pytest.mark.parametrize("quantile", [-0.1, 1.1, math.nan])
def test_a_quantile_outside_zero_to_one_is_refused(quantile: float) -> None:
    with pytest.raises(ValueError, match="quantile"):
        Histogram({1: 1}).quantile_us(quantile)


def test_an_empty_histogram_has_no_quantile() -> None:
    with pytest.raises(ValueError, match="0 latencies"):
        Histogram().quantile_us(0.5)


@pytest.mark.parametrize(
    "raw",
    [{"gamma": 1.01, "counts": {"1": 1}}, wire({"-1": 1}), wire({"1": 0})],
    ids=["another gamma", "a negative bucket", "an empty bucket"],
)
def test_a_wire_form_that_we_never_write_is_refused(raw: dict[str, Any]) -> None:
    with pytest.raises(InvalidHistogramError):
        Histogram.from_json(raw)


def test_a_histogram_is_no_key_because_its_counts_change() -> None:
    with pytest.raises(TypeError):
        hash(Histogram())
    assert repr(Histogram({2: 3})) == "Histogram({2: 3})"
