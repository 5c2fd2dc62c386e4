"""Days of observations: found again by the record's id, made ahead, dropped by the time of receipt (R-D6)."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from builders import make_observation, uuid7
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from service import clock
from service.intake.intake import Intake
from service.settings import Settings
from service.store import partitions
from service.store.partitions import FIRST_DAY, UNDATED, day_of

TODAY = date(2026, 5, 10)
DAY_SQL = """
    SELECT CASE WHEN uuid_extract_version(:id) = 7
                 AND uuid_extract_timestamp(:id) >= '2020-01-01+00' AND uuid_extract_timestamp(:id) < '2100-01-01+00'
                THEN (uuid_extract_timestamp(:id) AT TIME ZONE 'UTC')::date ELSE DATE '1970-01-01' END
"""


@pytest.fixture
def intake(engine: Engine, known_report: str) -> Iterator[Intake]:
    """Takes batches into a table whose partitions are those of a day in spring."""
    _forget_partitions(engine)
    with engine.begin() as connection:
        partitions.make_ahead(connection, TODAY, TODAY)
    yield Intake.of(engine, Settings(""))
    _forget_partitions(engine)
    with engine.begin() as connection:
        partitions.make_ahead(connection, clock.now().date(), clock.now().date())


def _forget_partitions(engine: Engine) -> None:
    with engine.begin() as connection:
        for day in partitions.days(connection):
            connection.execute(text(f"DROP TABLE observation_{day:%Y%m%d}"))


def take(intake: Intake, received: date, *ids: UUID) -> Any:
    batch = json.dumps([make_observation(record_id=str(record_id)) for record_id in ids]).encode()
    return intake.take(batch, "", datetime(received.year, received.month, received.day, 12, tzinfo=UTC), ndjson=False)


def where(engine: Engine) -> dict[UUID, str]:
    """Record id → partition."""
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT record_id, tableoid::regclass::text AS tableoid FROM observation"))
        return {row.record_id: row.tableoid for row in rows}


@given(st.dates(FIRST_DAY, date(2099, 12, 31)))
def test_an_id_of_version_seven_tells_its_day(day: date) -> None:
    assert day_of(uuid7(day)) == day


def test_an_id_that_tells_no_day_or_one_decades_off_has_none() -> None:
    off = [uuid7(day) for day in (date(1970, 1, 1), date(2019, 12, 31), date(2100, 1, 1), date(9999, 12, 31))]
    assert {day_of(record_id) for record_id in [uuid4(), UUID(int=0), UUID(int=2**128 - 1), *off]} == {UNDATED}


def test_the_database_reads_the_same_day_out_of_an_id(engine: Engine) -> None:
    days = (date(2019, 12, 31), FIRST_DAY, date(2099, 12, 31), date(2100, 1, 1))
    with engine.connect() as connection:
        for record_id in (uuid4(), UUID(int=2**128 - 1), *map(uuid7, days)):
            assert connection.execute(text(DAY_SQL), {"id": record_id}).scalar_one() == day_of(record_id)


def test_records_lie_in_the_partition_of_their_day_and_any_other_in_the_default_one(
    intake: Intake, engine: Engine
) -> None:
    dated, undated, ahead, behind = uuid7(TODAY), uuid4(), uuid7(date(2038, 1, 19)), uuid7(date(2021, 1, 1))
    assert take(intake, TODAY, dated, undated, ahead, behind).accepted == 4
    assert where(engine) == {dated: "observation_20260510"} | dict.fromkeys(
        (undated, ahead, behind), partitions.DEFAULT
    )


def test_a_retry_on_another_day_is_a_duplicate(intake: Intake, engine: Engine) -> None:
    batch = json.dumps([make_observation(record_id=str(uuid7(TODAY))), make_observation(record_id=str(uuid4()))])
    for later, verdict in ((0, "accepted"), (1, "duplicate"), (40, "duplicate")):
        received_at = datetime(2026, 5, 10, 23, 59, tzinfo=UTC) + timedelta(days=later)
        assert getattr(intake.take(batch.encode(), "", received_at, ndjson=False), verdict) == 2
    assert len(where(engine)) == 2


def test_a_day_that_gets_its_partition_takes_its_rows_along(intake: Intake, engine: Engine) -> None:
    tomorrow_week = TODAY + timedelta(days=8)
    early, undated = uuid7(tomorrow_week), uuid4()
    take(intake, TODAY, early, undated)
    with engine.begin() as connection:
        made = partitions.make_ahead(connection, TODAY + timedelta(days=1), TODAY)
        assert made == [tomorrow_week]
        assert partitions.make_ahead(connection, TODAY + timedelta(days=1), TODAY) == []
    assert where(engine) == {early: "observation_20260518", undated: partitions.DEFAULT}
    assert take(intake, tomorrow_week, uuid7(tomorrow_week)).accepted == 1


def test_days_without_a_partition_get_one_when_somebody_looks(intake: Intake, engine: Engine) -> None:
    late = uuid7(TODAY - timedelta(days=3))
    take(intake, TODAY, late)
    with engine.begin() as connection:
        assert partitions.make_ahead(connection, TODAY, TODAY - timedelta(days=30)) == [TODAY - timedelta(days=3)]
    assert where(engine) == {late: "observation_20260507"}


def test_what_is_old_by_its_receipt_goes_and_what_came_late_stays(intake: Intake, engine: Engine) -> None:
    old, late, new, undated, fresh = uuid7(TODAY), uuid7(TODAY), uuid7(TODAY + timedelta(days=2)), uuid4(), uuid4()
    take(intake, TODAY, old, undated)
    take(intake, TODAY + timedelta(days=2), late, new, fresh)
    with engine.begin() as connection:
        gone = partitions.drop_before(connection, datetime(2026, 5, 11, tzinfo=UTC))
    assert gone == ([TODAY], 1)
    kept = {late: partitions.DEFAULT, new: "observation_20260512", fresh: partitions.DEFAULT}
    assert where(engine) == kept
    assert take(intake, TODAY + timedelta(days=3), late).duplicate == 1
    assert where(engine) == kept


def test_days_come_and_go_while_batches_are_stored(intake: Intake, engine: Engine) -> None:
    days = [TODAY + timedelta(days=number) for number in range(-3, 20)]
    sent: list[UUID] = []
    faults: list[Exception] = []
    stop = threading.Event()

    def phone(seed: int) -> None:
        chance = random.Random(seed)
        try:
            while not stop.is_set():
                ids = [uuid7(chance.choice(days)) for _ in range(20)]
                assert take(intake, TODAY, *ids).accepted == 20
                sent.extend(ids)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=phone, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for day in days[3:12]:
        with engine.begin() as connection:
            partitions.make_ahead(connection, day, TODAY - timedelta(days=3))
        with engine.begin() as connection:
            partitions.drop_before(connection, datetime(TODAY.year, TODAY.month, TODAY.day, tzinfo=UTC))
    stop.set()
    for thread in threads:
        thread.join(timeout=30)
    assert faults == []
    stored = where(engine)
    assert stored.keys() == set(sent)
    assert len(set(stored.values())) > 9
