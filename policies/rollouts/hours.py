"""Hours in which a rollout may give more units the candidate: `09:00-17:00 mon-fri Europe/Berlin`.

They are asked by the clocks of their zone each time, so that they stay where they are over a change to summer time. Hours
that end before they begin go on into the next day, and belong to the day on which they began.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from policies.errors import InvalidField
from policies.rollouts.local_time import zone_named

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SHAPE: Final = "09:00-17:00 mon-fri Europe/Berlin"
DAY_MINUTES: Final = 24 * 60
_TIME: Final = r"([01]\d|2[0-3]):([0-5]\d)"
_STATED: Final = re.compile(rf"{_TIME}-(?:{_TIME}|24:00) +([a-z,-]+) +(\S+)")
_A_WEEK_AND_A_DAY: Final = 9
"""Days, today and the last one counted, in which every hour of a week begins, though clocks may skip one of them."""


@dataclass(frozen=True, slots=True)
class Hours:
    """From `first_minute` up to and without `last_minute` of a local day, on `days` (0 is Monday)."""

    first_minute: int
    last_minute: int
    days: frozenset[int]
    zone: str

    def __str__(self) -> str:
        days = ",".join(name for day, name in enumerate(DAYS) if day in self.days)
        return f"{_clock(self.first_minute)}-{_clock(self.last_minute)} {_SHORT.get(days, days)} {self.zone}"

    def hold(self, now: datetime) -> bool:
        """Whether a moment is in them."""
        local = now.astimezone(zone_named(self.zone))
        minute = local.hour * 60 + local.minute
        if self.first_minute < self.last_minute:
            return local.weekday() in self.days and self.first_minute <= minute < self.last_minute
        if minute >= self.first_minute:
            return local.weekday() in self.days
        return minute < self.last_minute and (local.weekday() - 1) % 7 in self.days

    def begin(self, now: datetime) -> datetime | None:
        """When they begin next, in UTC; None where clocks skip them whenever they come in the days that are looked at."""
        today = now.astimezone(zone_named(self.zone)).date()
        days = (today + timedelta(days=ahead) for ahead in range(_A_WEEK_AND_A_DAY))
        moments = (moment for day in days for moment in self._openings(day))
        return next((moment for moment in moments if moment > now and self.hold(moment)), None)

    def _openings(self, day: date) -> Iterator[datetime]:
        """When the first minute of a day is, in UTC; where clocks skip it or show it twice, all from one reading to the other."""
        opening = datetime.combine(day, time(*divmod(self.first_minute, 60)), zone_named(self.zone))
        first, last = sorted(opening.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
        yield from (first + timedelta(minutes=n) for n in range((last - first) // timedelta(minutes=1) + 1))


_SHORT: Final = {
    "mon,tue,wed,thu,fri": "mon-fri",
    "mon,tue,wed,thu,fri,sat,sun": "mon-sun",
    "sat,sun": "sat-sun",
}


def parse_hours(text: Any) -> Hours:
    """The hours in a text; raises InvalidField."""
    found = _STATED.fullmatch(text.strip()) if isinstance(text, str) and len(text) <= 100 else None
    if found is None:
        raise InvalidField(f"hours: from, to, weekdays and a zone, as {SHAPE}", field="hours")
    first_hour, first, last_hour, last, days, zone = found.groups()
    zone_named(zone, "hours")
    first_minute = int(first_hour) * 60 + int(first)
    last_minute = DAY_MINUTES if last_hour is None else int(last_hour) * 60 + int(last)
    if first_minute == last_minute:
        raise InvalidField("hours: they end when they begin; 00:00-24:00 is the whole day", field="hours")
    return Hours(first_minute, last_minute, frozenset(_days(days)), zone)


def _days(text: str) -> Iterable[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first not in DAYS or (last or first) not in DAYS or part.endswith("-"):
            raise InvalidField(f"hours: {part!r} is no weekday: {', '.join(DAYS)}, or mon-fri", field="hours")
        start, end = DAYS.index(first), DAYS.index(last or first)
        yield from (day % 7 for day in range(start, end + 1 if end >= start else end + 8))


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def _parsed(stated: Any) -> Hours:
    if isinstance(stated, Hours):
        return stated
    try:
        return parse_hours(stated)
    except InvalidField as error:
        raise ValueError(error.detail.removeprefix("hours: ")) from error


StatedHours = Annotated[
    Hours,
    BeforeValidator(_parsed),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "maxLength": 100, "examples": [SHAPE]}),
]


def opens(hours: Iterable[Hours], now: datetime) -> datetime | None:
    """`now` where some of them hold, or there are none; else when the first of them begins, None where none ever does."""
    stated = tuple(hours)
    if not stated or any(one.hold(now) for one in stated):
        return now
    return min((begun for one in stated if (begun := one.begin(now)) is not None), default=None)


def closed(hours: tuple[Hours, ...], now: datetime) -> str:
    """Why no step is opened now; "" where one may be."""
    begins = opens(hours, now)
    if begins == now:
        return ""
    stated = ", ".join(map(str, hours))
    if begins is None:
        return f"steps are opened within {stated} alone"
    local = begins.astimezone(zone_named(hours[0].zone))
    return f"steps are opened within {stated} alone; next from {local:%a %Y-%m-%d %H:%M} {hours[0].zone} ({begins:%H:%M} UTC)"
