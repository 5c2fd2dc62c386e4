"""A moment as people state it, in a zone of the IANA: `2026-12-01T09:00 Europe/Berlin`.

A local time that clocks skip or show twice is no moment. It is refused with the two that could be meant, each with its
offset from UTC, as which it is taken: `2026-10-25T01:30+01:00 Europe/London`. Zones are those of the platform, or of tzdata.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from policies.errors import InvalidField, UnclearTime
from policies.nearest import did_you_mean, nearest

_STATED: Final = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)([+-]\d\d:\d\d|Z)? +(\S+)")
SHAPE: Final = "2026-12-01T09:00 Europe/Berlin"
MOST_CHARACTERS: Final = 100


@dataclass(frozen=True, slots=True)
class LocalTime:
    """A moment, `at` in UTC, and the `zone` that it was stated in."""

    at: datetime
    zone: str

    def __str__(self) -> str:
        return f"{self.local:%Y-%m-%dT%H:%M}{_offset(self.local)} {self.zone}"

    @property
    def local(self) -> datetime:
        """The moment by the clocks of the zone."""
        return self.at.astimezone(zone_named(self.zone))

    def to_json(self) -> dict[str, str]:
        """The same moment by both clocks."""
        return {"utc": self.at.isoformat(), "local": self.local.isoformat(), "zone": self.zone}


def parse_local_time(text: Any, field: str) -> LocalTime:
    """The moment in a text; raises InvalidField, or UnclearTime where it names no moment, or two."""
    found = _STATED.fullmatch(text.strip()) if isinstance(text, str) and len(text) <= MOST_CHARACTERS else None
    if found is None:
        raise InvalidField(f"{field}: a local time and its zone, as {SHAPE}", field=field)
    day, minute, offset, zone = found.groups()
    clock = zone_named(zone, field)
    try:
        wall = datetime.fromisoformat(f"{day}T{minute}")
        meant = _meant(wall, clock)
    except (ValueError, OverflowError) as error:
        raise InvalidField(f"{field}: {day}T{minute} is in no calendar", field=field) from error
    return LocalTime(_chosen(wall, meant, offset, zone, field), zone)


def zone_named(name: str, field: str = "zone") -> ZoneInfo:
    """The zone; raises InvalidField naming the nearest there is."""
    if name not in _zones():
        close = nearest(name, sorted(_zones()))
        raise InvalidField(f"{field}: {name!r} is no zone of the IANA{did_you_mean(close)}", field=field, nearest=close)
    return ZoneInfo(name)


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _meant(wall: datetime, zone: ZoneInfo) -> list[datetime]:
    """The moments that a wall clock's time could stand for, in UTC: read by the offset before a change, and after it."""
    return list(dict.fromkeys(wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)))


def _chosen(wall: datetime, meant: list[datetime], offset: str | None, zone: str, field: str) -> datetime:
    clear = len(meant) == 1
    if offset is None and clear:
        return meant[0]
    choices = [LocalTime(moment, zone) for moment in meant]
    stated = None if offset is None else (wall - _delta(offset)).replace(tzinfo=UTC)
    if stated is not None and stated in meant and choices[meant.index(stated)].local.replace(tzinfo=None) == wall:
        return stated
    raise UnclearTime(_told(wall, choices, offset, field), field=field, choices=[str(choice) for choice in choices])


def _told(wall: datetime, choices: list[LocalTime], offset: str | None, field: str) -> str:
    zone = choices[0].zone
    either = " or ".join(f"{choice} ({choice.at:%H:%M} UTC)" for choice in choices)
    if offset is not None:
        return f"{field}: clocks of {zone} do not show {wall:%Y-%m-%dT%H:%M} at {offset}: state {either}"
    twice = choices[0].local.replace(tzinfo=None, fold=0) == wall
    return f"{field}: clocks of {zone} {'show' if twice else 'skip'} {wall:%Y-%m-%dT%H:%M}{' twice' if twice else ''}: state {either}"


def _delta(offset: str) -> timedelta:
    if offset == "Z":
        return timedelta()
    hours, minutes = offset[1:].split(":")
    delta = timedelta(hours=int(hours), minutes=int(minutes))
    return -delta if offset[0] == "-" else delta


def _offset(local: datetime) -> str:
    return f"{local:%z}"[:3] + ":" + f"{local:%z}"[3:5]
