"""Situations: conditions on the moment that a phone tests by itself, so that one document serves hot and cool alike."""

from __future__ import annotations

from typing import Any, Final

from pydantic import model_validator

from policies.asked import Moment
from policies.validation import Stated
from policies.vocabulary import ThermalStatus, Workload

_HEAT: Final = tuple(ThermalStatus)


class Situation(Stated):
    """All that is stated has to hold. What a phone does not know of its moment holds nothing."""

    workload: Workload | None = None
    thermal_at_least: ThermalStatus | None = None
    battery_saver: bool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Situation:
        if not self.when:
            raise ValueError("a situation states a workload, a heat or the battery saver")
        return self

    @property
    def when(self) -> dict[str, Any]:
        """The conditions as decision documents write them."""
        return self.model_dump(mode="json", exclude_none=True)

    def allows(self, workload: Workload) -> bool:
        """Whether it can hold while this workload runs."""
        return self.workload in {None, workload}

    def follows_from(self, other: Situation) -> bool:
        """Whether it holds whenever the other one does."""
        return (
            self.workload in {None, other.workload}
            and self.battery_saver in {None, other.battery_saver}
            and _heat(self) <= _heat(other)
        )

    def holds(self, moment: Moment) -> bool:
        """Whether it holds in that moment."""
        return (
            self.allows(moment.workload)
            and self.battery_saver in {None, moment.battery_saver}
            and (self.thermal_at_least is None or _reaches(moment.thermal, self.thermal_at_least))
        )

    def __str__(self) -> str:
        return ".".join(f"{name.removesuffix('_at_least')}-{value}" for name, value in self.when.items()).lower()


def _heat(situation: Situation) -> int:
    return -1 if situation.thermal_at_least is None else _HEAT.index(situation.thermal_at_least)


def _reaches(thermal: ThermalStatus | None, floor: ThermalStatus) -> bool:
    return thermal is not None and _HEAT.index(thermal) >= _HEAT.index(floor)
