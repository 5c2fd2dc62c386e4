"""Values packed by hand are what psycopg itself would send."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.adapt import PyFormat, Transformer
from psycopg.types.json import Jsonb

from service.store import binary

YEARS = {"min_value": datetime(2, 1, 1), "max_value": datetime(9998, 12, 31)}  # noqa: DTZ001 -- zones are drawn apart
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def sent(value: Any) -> bytes:
    dumped = Transformer().get_dumper(value, PyFormat.BINARY).dump(value)
    assert dumped is not None
    return bytes(dumped)


@given(st.datetimes(**YEARS, timezones=ZONES | st.just(UTC)))
def test_moments(moment: datetime) -> None:
    assert binary.timestamptz(moment) == sent(moment)


@given(st.dates())
def test_days(day: date) -> None:
    assert binary.day(day) == sent(day)


@given(st.lists(st.integers(2**15, 2**31 - 1), min_size=1))
def test_arrays(values: list[int]) -> None:
    assert binary.int4_array(values) == sent(values)


def test_an_integer_that_would_wrap_is_refused() -> None:
    with pytest.raises(struct.error):
        binary.int4_array([2**31])


def test_json() -> None:
    assert binary.jsonb(b'{"DEAD_OBJECT": 3}') == sent(Jsonb({"DEAD_OBJECT": 3}))
