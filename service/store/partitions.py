"""Partitions of `observation`: one a day, a default one for what no day fits, made ahead, dropped when they are old.

The day is a function of the record id alone. A retry, however late and wherever the clock stands by then, meets its
record in the same partition: the unique key of a partitioned table has to hold its partition key, and this one does no
harm. What is kept and for how long goes by the time of receipt all the same.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, text

UNDATED: Final = date(1970, 1, 1)
"""The day of ids that are no UUIDv7, or one of a clock that is decades off. Its rows stay in the default partition."""
FIRST_DAY: Final = date(2020, 1, 1)
END_DAY: Final = date(2100, 1, 1)
_FIRST, _END = (day.toordinal() for day in (FIRST_DAY, END_DAY))
_EPOCH: Final = UNDATED.toordinal()
_DAY_MS: Final = 86_400_000
_PREFIX: Final = "observation_"
DEFAULT: Final = "observation_default"
AHEAD_DAYS: Final = 7
_LOCK_TIMEOUT: Final = text("SET LOCAL lock_timeout = '5s'")
"""Whoever waits for a lock on `observation` makes everybody behind wait: give up soon, the next run tries again."""


def day_of(record_id: UUID) -> date:
    """The UTC day in a UUIDv7, `UNDATED` for any other id."""
    number = record_id.int
    if number >> 76 & 0xF != 7 or number >> 62 & 3 != 2:
        return UNDATED
    ordinal = _EPOCH + (number >> 80) // _DAY_MS
    return date.fromordinal(ordinal) if _FIRST <= ordinal < _END else UNDATED


def days(connection: Connection) -> list[date]:
    """Days that have a partition, the oldest first."""
    names = connection.execute(
        text(
            "SELECT c.relname FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'observation'::regclass"
        )
    ).scalars()
    return sorted(_day(name) for name in names if name != DEFAULT)


def make_ahead(connection: Connection, today: date, keep_from: date) -> list[date]:
    """Make partitions for the coming week, and for days from `keep_from` on that the default partition has rows of."""
    ahead = {today + timedelta(days=number) for number in range(AHEAD_DAYS + 1)}
    stray = connection.execute(
        text(f"SELECT DISTINCT day FROM {DEFAULT} WHERE day BETWEEN :first AND :last"),  # noqa: S608 -- our own name
        {"first": max(keep_from, FIRST_DAY), "last": max(ahead)},
    ).scalars()
    made = sorted((ahead | set(stray)) - set(days(connection)))
    for day in made:
        _make(connection, day)
    return made


def drop_before(connection: Connection, keep_from: datetime) -> tuple[list[date], int]:
    """Drop what was received before `keep_from`: (partitions that went, rows that went one by one).

    A day's partition goes whole once the day is over by then. Rows in it that came late, from a clock that runs behind,
    move to the default partition and stay as long as all others.
    """
    old = [day for day in days(connection) if day < keep_from.date()]
    for day in old:
        _drop(connection, day, keep_from)
    gone = connection.execute(text(f"DELETE FROM {DEFAULT} WHERE received_at < :keep_from"), {"keep_from": keep_from})  # noqa: S608
    return old, gone.rowcount


def _make(connection: Connection, day: date) -> None:
    name = _name(day)
    connection.execute(_LOCK_TIMEOUT)
    # Whoever inserts has to wait at the parent, before rows are routed: one that was routed to the default partition and
    # waits there is refused when the new one takes its day.
    connection.execute(text("LOCK TABLE observation IN SHARE ROW EXCLUSIVE MODE"))
    connection.execute(text(f"CREATE TABLE {name} (LIKE observation INCLUDING DEFAULTS)"))
    _move(connection, f"DELETE FROM {DEFAULT} WHERE day = :bound", name, day)  # noqa: S608
    upto = day + timedelta(days=1)
    connection.execute(text(f"ALTER TABLE observation ATTACH PARTITION {name} FOR VALUES FROM ('{day}') TO ('{upto}')"))


def _drop(connection: Connection, day: date, keep_from: datetime) -> None:
    name = _name(day)
    connection.execute(_LOCK_TIMEOUT)
    connection.execute(text(f"ALTER TABLE observation DETACH PARTITION {name}"))
    _move(connection, f"DELETE FROM {name} WHERE received_at >= :bound", DEFAULT, keep_from)  # noqa: S608
    connection.execute(text(f"DROP TABLE {name}"))


def _move(connection: Connection, delete: str, target: str, bound: date | datetime) -> None:
    names = ", ".join(
        connection.execute(
            text("SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = 'observation'::regclass AND attnum > 0 AND NOT attisdropped")
        ).scalars()
    )  # fmt: skip
    connection.execute(
        text(f"WITH moved AS ({delete} RETURNING *) INSERT INTO {target} ({names}) SELECT {names} FROM moved"),  # noqa: S608
        {"bound": bound},
    )


def _name(day: date) -> str:
    return f"{_PREFIX}{day:%Y%m%d}"


def _day(name: str) -> date:
    return datetime.strptime(name.removeprefix(_PREFIX), "%Y%m%d").date()  # noqa: DTZ007 -- a day has no zone
