"""What a driver computes, operation by operation, against NNAPI's own CPU on the same input: a measurement of the probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")]


class OperationOutputs(BaseModel):
    """Models of one operation each: how many were compared, and operation → operand types whose output differed.

    The probe names sixteen operations at most. What the driver or the CPU does not run is not among those compared.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    checked: Annotated[int, Field(ge=0, le=10_000)]
    wrong: Annotated[Mapping[Name, Annotated[tuple[Name, ...], Field(max_length=64)]], Field(max_length=256)] = {}

    def __str__(self) -> str:
        named = "; ".join(f"{name} ({', '.join(types)})" for name, types in sorted(self.wrong.items()))
        return f"{named or 'none'} of {self.checked} outputs"
