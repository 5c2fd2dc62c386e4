"""What is set aside, and the numbers a histogram gives (R-D2, R-D7)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from math import ceil
from typing import Any

import pytest
from builders import make_attempt, make_histogram, make_observation
from hypothesis import given
from hypothesis import strategies as st

from policies.observation import Observation, decode_observation
from policies.screen import GAMMA, bucket_of, clock_fault, clock_skew_s, quantile_us, screen


def decoded(record: dict[str, Any]) -> Observation:
    return decode_observation(json.dumps(record).encode())


def reason(record: dict[str, Any], learnable: bool = True) -> str | None:
    return screen(decoded(record), learnable=learnable, newest_release=1)


def window(**latency: Any) -> dict[str, Any]:
    record = make_observation((1000, 2000, 3000))
    record["runs"]["latency_us"] |= latency
    return record


@pytest.mark.parametrize("record", [make_observation(), make_attempt(), make_observation(())])
def test_what_can_be_is_taken(record: dict[str, Any]) -> None:
    assert reason(record) is None


def test_a_class_that_is_not_learned_from_is_set_aside_whatever_it_says() -> None:
    assert reason(make_observation(), learnable=False) == "population-not-learnable"


@pytest.mark.parametrize(("release", "expected"), [(0, None), (1, None), (2, "unknown-release")])
def test_a_release_that_was_never_published_is_not_believed(release: int, expected: str | None) -> None:
    assert reason(make_observation(release=release)) == expected


@pytest.mark.parametrize(
    ("latency", "expected"),
    [
        ({"min": -1}, "negative-latency"),
        ({"sum": -1}, "negative-latency"),
        ({"max": 600_000_001}, "latency-out-of-range"),
        ({"min": 4}, "latency-out-of-range"),
        ({"min": 3001}, "latency-impossible"),
        ({"sum": 2999}, "latency-impossible"),
        ({"sum": 9001}, "latency-impossible"),
        ({"histogram": {"gamma": 1.05, "counts": {"349": 1, "384": 1, "405": 1}}}, "histogram-impossible"),
        ({"histogram": {"gamma": 1.02, "counts": {"349": 1}}}, "histogram-impossible"),
        ({"histogram": {"gamma": 1.02, "counts": {"300": 1, "384": 1, "405": 1}}}, "histogram-impossible"),
        ({"histogram": {"gamma": 1.02, "counts": {"349": 1, "384": 1, "500": 1}}}, "histogram-impossible"),
        ({"histogram": {"gamma": 1.02, "counts": {"350": 1, "384": 1, "405": 1, "900": 0}}}, None),
    ],
)
def test_a_latency_that_cannot_be_is_set_aside(latency: dict[str, Any], expected: str | None) -> None:
    assert reason(window(**latency)) == expected


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (make_attempt(kind="window"), "window-without-runs"),
        (make_observation(golden={"checks": 1, "passed": 2}), "golden-impossible"),
        (make_observation(executed={"by": "x", "delegated_nodes": 5, "total_nodes": 4}), "delegated-impossible"),
        (make_observation((), runs={"count": 3}), "runs-without-latency"),
    ],
)
def test_a_record_that_contradicts_itself_is_set_aside(record: dict[str, Any], expected: str) -> None:
    assert reason(record) == expected


@pytest.mark.parametrize("part", ["load_us", "compile_us", "first_run_us"])
def test_a_start_that_ended_before_it_began_tells_of_the_clock(part: str) -> None:
    assert reason(make_observation(init={part: -1})) == "negative-duration"
    assert reason(make_observation(init={part: 0})) is None


@pytest.mark.parametrize(
    ("skew_s", "expected"),
    [
        (None, None), (0, None), (300, None), (-86_400, None), (301, "clock-ahead"), (-86_401, "clock-behind"),
        (1e9, "clock-ahead"), (-1.7e9, "clock-behind"),
    ],
)  # fmt: skip
def test_a_clock_is_noted_beyond_five_minutes_ahead_and_a_day_behind(
    skew_s: float | None, expected: str | None
) -> None:
    assert clock_fault(skew_s) == expected


@given(st.lists(st.integers(5, 600_000_000), min_size=1, max_size=50))
def test_an_honest_window_is_never_set_aside(latencies_us: list[int]) -> None:
    assert reason(make_observation(latencies_us)) is None


@given(st.integers(2, 600_000_000))
def test_a_bucket_holds_its_latency_within_one_percent(latency_us: int) -> None:
    number = bucket_of(latency_us)
    assert GAMMA ** (number - 1) < latency_us * (1 + 1e-9)
    assert latency_us <= GAMMA**number * (1 + 1e-9)
    assert quantile_us({number: 1}, 0.5) == pytest.approx(latency_us, rel=0.01)


@pytest.mark.parametrize("latency_us", [0, 0.3, 1])
def test_up_to_a_microsecond_is_bucket_zero(latency_us: float) -> None:
    assert bucket_of(latency_us) == 0


@given(st.lists(st.integers(5, 10_000_000), min_size=1, max_size=40), st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_a_quantile_is_that_of_the_latencies_by_upper_rank(latencies_us: list[int], q: float) -> None:
    counts = {int(k): n for k, n in make_histogram(latencies_us)["histogram"]["counts"].items()}
    exact = sorted(latencies_us)[max(ceil(q * len(latencies_us)), 1) - 1]
    assert quantile_us(counts, q) == pytest.approx(exact, rel=0.0101)


def test_nothing_has_no_quantile() -> None:
    with pytest.raises(ValueError, match="nothing"):
        quantile_us({}, 0.5)


def test_the_skew_is_device_minus_server_and_unknown_without_a_device_time() -> None:
    received_at = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)
    record = make_observation(device_time="2026-05-01T10:00:00+01:00")
    assert clock_skew_s(decoded(record), received_at) == 3600
    assert clock_skew_s(decoded(make_attempt()), received_at) is None
