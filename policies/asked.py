"""What a request says of its moment: the workload, heat, battery, and who is assigned."""

from __future__ import annotations

import unicodedata
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from policies.validation import Stated
from policies.vocabulary import ThermalStatus, Workload

MAX_UNIT_CHARACTERS = 128
PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f]*$"
"""Without control characters: every client refuses a unit id with one."""
UnitId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_UNIT_CHARACTERS, pattern=PRINTABLE)]
MAX_FACTS = 64
MAX_FACT_NAME = 128
MAX_FACT_CHARACTERS = 1_024
Fact = bool | int | float | Annotated[str, StringConstraints(max_length=MAX_FACT_CHARACTERS)]
_nfc = partial(unicodedata.normalize, "NFC")


def _composed(facts: dict[str, Fact]) -> dict[str, Fact]:
    """Texts in Unicode NFC, as conditions are: an accent is the same letter however a keyboard wrote it."""
    return {_nfc(name): _nfc(value) if isinstance(value, str) else value for name, value in facts.items()}


Facts = Annotated[
    dict[Annotated[str, StringConstraints(max_length=MAX_FACT_NAME)], Fact],
    Field(max_length=MAX_FACTS),
    AfterValidator(_composed),
]


class Moment(Stated):
    """None is "not known". The unit id is used to find a bucket and forgotten: no answer repeats it.

    `facts` are what the caller says of itself: conditions name them as `request.…`.
    """

    workload: Workload = Workload.BURST
    thermal: ThermalStatus | None = None
    battery_saver: bool | None = None
    unit_id: UnitId | None = None
    facts: Facts = Field(default_factory=dict)
