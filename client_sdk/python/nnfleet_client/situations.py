"""Which plan holds right now: the first situation that matches, with no expression engine on the phone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from nnfleet_client.document import Situation


class Thermal(IntEnum):
    """Android's `PowerManager.THERMAL_STATUS_*`, in rising order."""

    NONE = 0
    LIGHT = 1
    MODERATE = 2
    SEVERE = 3
    CRITICAL = 4
    EMERGENCY = 5
    SHUTDOWN = 6


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the app knows about this moment. None is "not known", which matches no situation that asks for it."""

    workload: str | None = None
    thermal: Thermal | None = None
    battery_saver: bool | None = None


def thermal_from(value: Thermal | int | str | None) -> Thermal | None:
    """Android's number or our lower-case word; anything else is unknown (None)."""
    if isinstance(value, str):
        return Thermal.__members__.get(value.upper()) if value.islower() else None
    if value is None or isinstance(value, bool) or not Thermal.NONE <= value <= Thermal.SHUTDOWN:
        return None
    return Thermal(value)


def matching_plan(situations: Sequence[Situation], now: Circumstances) -> str | None:
    """Name of the first matching situation's plan; None where even the last one asks for something.

    A key this client does not know fails its situation: what a newer server means by it cannot be guessed.
    """
    return next((situation.plan for situation in situations if _matches(situation.when, now)), None)


def _matches(when: Mapping[str, object], now: Circumstances) -> bool:
    return all(key in _TESTS and _TESTS[key](wanted, now) for key, wanted in when.items())


def _workload_is(wanted: object, now: Circumstances) -> bool:
    return now.workload is not None and wanted == now.workload


def _thermal_reaches(wanted: object, now: Circumstances) -> bool:
    floor = thermal_from(wanted) if isinstance(wanted, str) else None
    return floor is not None and now.thermal is not None and now.thermal >= floor


def _battery_saver_is(wanted: object, now: Circumstances) -> bool:
    return now.battery_saver is not None and wanted is now.battery_saver


_TESTS: Final[Mapping[str, Callable[[object, Circumstances], bool]]] = MappingProxyType(
    {"workload": _workload_is, "thermal_at_least": _thermal_reaches, "battery_saver": _battery_saver_is}
)
