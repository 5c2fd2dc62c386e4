"""What a request says of its moment: the workload, heat, battery, and who is assigned."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from policies.vocabulary import ThermalStatus, Workload

MAX_UNIT_CHARACTERS = 128
UnitId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_UNIT_CHARACTERS)]


class Moment(BaseModel):
    """None is "not known". The unit id is used to find a bucket and forgotten: no answer repeats it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workload: Workload = Workload.BURST
    thermal: ThermalStatus | None = None
    battery_saver: bool | None = None
    unit_id: UnitId | None = None
