"""Run settings that an operator states for some arms on some phones, where those an arm has by itself will not do."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import Field, model_validator

from policies.arm import Slug
from policies.rules.globs import Globs
from policies.rules.when import When
from policies.validation import Stated

Few = Annotated[int, Field(ge=1, le=64)]


class RunOptions(Stated):
    """What is run otherwise; what is not stated stays as it is.

    `allow_fp16`: compute in half precision; `allow_fp16_storage`: keep values in it, and compute in full: a driver whose
    arithmetic overflows may store well. `compile_cache_epoch`: another number, and everything is compiled anew.
    """

    allow_fp16: bool | None = None
    allow_fp16_storage: bool | None = None
    max_partitions: Few | None = None
    threads: Few | None = None
    compile_cache_epoch: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> RunOptions:
        if not self.stated:
            raise ValueError("settings state one option or more: " + ", ".join(type(self).model_fields))
        return self

    @property
    def stated(self) -> dict[str, Any]:
        """Option → value of what is stated."""
        return self.model_dump(exclude_none=True)


class StatedSettings(Stated):
    """`arms` are run with what `use` states where `when` holds; of several that hold, the later one counts.

    Where a condition is unknown it does not hold. `until` is the last day, in UTC.
    """

    id: Slug
    arms: Globs
    when: When = "true"
    use: RunOptions
    models: tuple[Slug, ...] = ()
    description: Annotated[str, Field(max_length=500)] = ""
    until: date | None = None
