"""Rollups by day of receipt: complete when the day is over, settled when nothing can change it any more (R-D5, R-D6)."""

from __future__ import annotations

import json
import math
import statistics
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from builders import make_attempt, make_observation
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, text
from sqlmodel import Session

from policies.screen import GAMMA
from service.intake.intake import Intake
from service.jobs.rollup import _log_median, roll_up
from service.jobs.run import figures_of
from service.settings import Settings
from service.store import rollups

pytestmark = pytest.mark.usefixtures("known_report")
NOON = datetime(2026, 5, 10, 12, tzinfo=UTC)


@pytest.fixture
def intake(engine: Engine) -> Intake:
    return Intake.of(engine, Settings(""))


def take(intake: Intake, received_at: datetime, *records: dict[str, Any]) -> None:
    assert intake.take(json.dumps(records).encode(), "", received_at, ndjson=False).accepted == len(records)


def rolled(engine: Engine, now: datetime) -> dict[date, tuple[int, int, int]]:
    """Day → windows, starts, crashes, after the rollup that is due then."""
    figures_of(roll_up(engine, now, now - timedelta(hours=2)))
    with engine.connect() as connection:
        query = (
            "SELECT day, sum(windows)::int, sum(attempts)::int, sum(crashed)::int FROM observation_rollup GROUP BY 1"
        )
        return {row[0]: (row[1], row[2], row[3]) for row in connection.execute(text(query))}


def days_due(engine: Engine, now: datetime) -> list[date]:
    with Session(engine) as session:
        return rollups.days_due(session, now)


def test_a_day_begins_and_ends_at_midnight_in_utc(engine: Engine, intake: Intake) -> None:
    midnight = datetime(2026, 5, 10, tzinfo=UTC)
    for moment in (midnight - timedelta(microseconds=1), midnight, midnight + timedelta(hours=23, minutes=59)):
        take(intake, moment, make_observation())
    assert rolled(engine, NOON + timedelta(days=1)) == {date(2026, 5, 9): (1, 0, 0), date(2026, 5, 10): (2, 0, 0)}


def test_today_is_rolled_up_every_time_and_a_day_that_is_over_now_and_then(engine: Engine, intake: Intake) -> None:
    take(intake, NOON, make_observation())
    assert rolled(engine, NOON)[NOON.date()] == (1, 0, 0)
    take(intake, NOON + timedelta(minutes=4), make_observation())
    assert rolled(engine, NOON + timedelta(minutes=5))[NOON.date()] == (2, 0, 0)
    after_midnight = datetime(2026, 5, 11, 0, 20, tzinfo=UTC)
    assert days_due(engine, after_midnight) == [NOON.date()]
    rolled(engine, after_midnight)
    assert days_due(engine, after_midnight + timedelta(hours=5)) == []
    assert days_due(engine, after_midnight + timedelta(hours=6)) == [NOON.date()]


def test_a_window_that_comes_days_later_takes_its_crash_back_until_the_day_is_settled(
    engine: Engine, intake: Intake
) -> None:
    late, lost = make_attempt(), make_attempt()
    take(intake, NOON, late, lost)
    assert rolled(engine, NOON + timedelta(hours=1))[NOON.date()] == (0, 2, 0)
    assert rolled(engine, NOON + timedelta(days=1))[NOON.date()] == (0, 2, 2)
    take(intake, NOON + timedelta(days=2), make_observation(attempt_id=late["record_id"]))
    assert rolled(engine, NOON + timedelta(days=2, hours=1))[NOON.date()] == (0, 2, 1)
    rolled(engine, NOON + timedelta(days=5))
    take(intake, NOON + timedelta(days=5), make_observation(attempt_id=lost["record_id"]))
    assert NOON.date() not in days_due(engine, NOON + timedelta(days=6))
    assert rolled(engine, NOON + timedelta(days=6))[NOON.date()] == (0, 2, 1)


@given(st.lists(st.integers(0, 900), min_size=1, max_size=40))
def test_the_median_of_buckets_is_that_of_what_went_in(buckets: list[int]) -> None:
    counts = [(bucket, buckets.count(bucket)) for bucket in sorted(set(buckets))]
    exact = statistics.median(math.log(2 * GAMMA**bucket / (GAMMA + 1)) for bucket in buckets)
    assert _log_median(counts) == pytest.approx(exact)
