"""Moments that people state by their own clocks (RO-08)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.errors import InvalidField, UnclearTime
from policies.rollouts.local_time import LocalTime, parse_local_time


def test_a_local_time_is_kept_as_a_moment_and_its_zone_and_shown_by_both_clocks() -> None:
    stated = parse_local_time("2026-07-01T09:00 Europe/Berlin", "start")
    assert stated == LocalTime(datetime(2026, 7, 1, 7, tzinfo=UTC), "Europe/Berlin")
    assert str(stated) == "2026-07-01T09:00+02:00 Europe/Berlin"
    assert stated.to_json() == {
        "utc": "2026-07-01T07:00:00+00:00",
        "local": "2026-07-01T09:00:00+02:00",
        "zone": "Europe/Berlin",
    }


@pytest.mark.parametrize(
    ("stated", "why", "choices"),
    [
        ("2026-10-25T01:30", "show 2026-10-25T01:30 twice", ["2026-10-25T01:30+01:00", "2026-10-25T01:30+00:00"]),
        ("2026-03-29T01:30", "skip 2026-03-29T01:30", ["2026-03-29T02:30+01:00", "2026-03-29T00:30+00:00"]),
        ("2026-10-25T01:30+02:00", "do not show", ["2026-10-25T01:30+01:00", "2026-10-25T01:30+00:00"]),
        ("2026-07-01T12:00+00:00", "do not show", ["2026-07-01T12:00+01:00"]),
    ],
)
def test_a_time_that_clocks_skip_or_show_twice_is_refused_with_what_could_be_meant(
    stated: str, why: str, choices: list[str]
) -> None:
    with pytest.raises(UnclearTime, match=why) as refused:
        parse_local_time(f"{stated} Europe/London", "start")
    assert refused.value.choices == [f"{choice} Europe/London" for choice in choices]
    for choice in refused.value.choices:
        assert choice in refused.value.detail
        assert str(parse_local_time(choice, "start")) == choice


def test_an_offset_may_be_stated_where_there_is_no_doubt_too() -> None:
    for stated in (
        "2026-12-01T09:00Z UTC",
        "2026-12-01T10:00+01:00 Europe/Berlin",
        "2026-12-01T04:00-05:00 America/New_York",
    ):
        assert parse_local_time(stated, "start").at == datetime(2026, 12, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "stated",
    ["", "tomorrow", "2026-12-01T09:00", "2026-12-01 Europe/Berlin", "2026-02-30T09:00 UTC", "2026-12-01T24:00 UTC",
     "2026-12-01T09:00 CET+1", "2026-12-01T09:00 ../../etc/passwd", "2026-12-01T09:00 Europe", "0001-01-01T00:00 Asia/Tokyo",
     "2026-12-01T09:00 " + "x" * 200, 7, None],
)  # fmt: skip
def test_what_is_no_local_time_with_a_zone_is_refused(stated: Any) -> None:
    with pytest.raises(InvalidField) as refused:
        parse_local_time(stated, "start")
    assert refused.value.field == "start"


def test_a_zone_that_is_misspelt_is_told_the_nearest_there_is() -> None:
    with pytest.raises(InvalidField, match="Europe/Berlin"):
        parse_local_time("2026-12-01T09:00 Europe/Berlim", "start")


@given(
    st.integers(0, 366 * 24 * 4), st.sampled_from(["Europe/London", "America/New_York", "Australia/Lord_Howe", "UTC"])
)
def test_every_moment_can_be_stated_and_is_read_as_itself(quarters: int, zone: str) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=15 * quarters)
    assert parse_local_time(str(LocalTime(moment, zone)), "start").at == moment
    wall = f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%dT%H:%M} {zone}"
    assert moment in [parse_local_time(clear, "start").at for clear in _clear(wall)]


def _clear(wall: str) -> list[str]:
    """The text, or what it is refused with where clocks show it twice."""
    try:
        parse_local_time(wall, "start")
    except UnclearTime as unclear:
        return unclear.choices
    return [wall]
