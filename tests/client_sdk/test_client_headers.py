"""The headers a client obeys, bounded so that a slip on the server neither hammers it nor silences a fleet."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sdk_builders import START_S

from nnfleet_client.backoff import Backoff
from nnfleet_client.headers import fresh_for_s, retry_after_s


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"cache-control": "public, max-age=60, stale-while-revalidate=86400, stale-if-error=604800"}, 60),
        ({"cache-control": "MAX-AGE=120"}, 120),
        ({"cache-control": 'max-age="90"'}, 90),
        ({"cache-control": "s-maxage=600, max-age=60"}, 60),
        ({"cache-control": "max-age=60", "age": "40"}, 20),
        ({"cache-control": "max-age=60", "age": "3600"}, 5),
        ({"cache-control": "max-age=60", "age": "-3"}, 60),
        ({"cache-control": "no-store, max-age=600"}, 5),
        ({"cache-control": "no-cache"}, 5),
        ({"cache-control": "max-age=0"}, 5),
        ({"cache-control": "max-age=31536000"}, 86_400),
        ({"cache-control": "max-age=soon"}, 60),
        ({"cache-control": "max-age=" + "9" * 5_000}, 60),
        ({"cache-control": "max-age=٣"}, 60),
        ({"cache-control": "public"}, 60),
        ({}, 60),
    ],
    ids=lambda value: str(value)[:60],
)
def test_freshness_is_max_age_less_the_age_in_caches(headers: dict[str, str], seconds: float) -> None:
    assert fresh_for_s(headers) == seconds


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("0", 0),
        ("999999999", 86_400),
        ("Thu, 28 May 2026 20:28:40 GMT", 120),
        ("Thu, 28 May 2026 20:00:00 GMT", 0),
        ("Thu, 28 May 2099 20:00:00 GMT", 86_400),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_retry_after_is_seconds_or_a_date_or_nothing(value: str, seconds: float | None) -> None:
    assert retry_after_s({"retry-after": value}, START_S) == seconds


def test_an_unsaid_retry_after_is_unknown_and_not_zero() -> None:
    assert retry_after_s({}, START_S) is None


@given(st.integers(1, 100), st.integers(0, 2**32), st.none() | st.floats(0, 86_400))
def test_the_pause_after_failures_has_a_floor_and_a_ceiling(failures: int, seed: int, asked_s: float | None) -> None:
    backoff = Backoff(random.Random(seed))
    for _ in range(failures):
        backoff.failure(0.0, asked_s)
    assert max(30.0, asked_s or 0) <= backoff.wait_s(0.0) <= max(3_600.0, asked_s or 0) * 1.5


def test_one_success_ends_the_pause() -> None:
    backoff = Backoff(random.Random(1))
    backoff.failure(0.0, 600)
    backoff.success()
    assert backoff.wait_s(1.0) == 0
