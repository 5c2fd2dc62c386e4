"""Run settings that an operator states for some arms on some phones, where those an arm has by itself will not do."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import Field, model_validator

from policies.model import Slug
from policies.rules.globs import Globs
from policies.rules.when import When
from policies.validation import Stated
from policies.vocabulary import ExecutionPreference, Priority, Workaround

Few = Annotated[int, Field(ge=1, le=64)]


class RunOptions(Stated):
    """What is run otherwise; what is not stated stays as it is.

    `allow_fp16`: compute in half precision; `allow_fp16_storage`: keep values in it, and compute in full: a driver whose
    arithmetic overflows may store well. `shared_buffers`: hand values over in AHardwareBuffers. `compile_cache_epoch`: another
    number, and everything is compiled anew. `max_concurrency`: executions at once; it, `warmup_runs` and `workarounds` leave
    what was compiled as it is.
    """

    allow_fp16: bool | None = None
    allow_fp16_storage: bool | None = None
    max_partitions: Few | None = None
    threads: Few | None = None
    batch_size: Few | None = None
    execution_preference: ExecutionPreference | None = None
    priority: Priority | None = None
    burst: bool | None = None
    shared_buffers: bool | None = None
    compile_cache_epoch: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    warmup_runs: Annotated[int, Field(ge=0, le=100)] | None = None
    max_concurrency: Few | None = None
    workarounds: Annotated[tuple[Workaround, ...], Field(min_length=1, max_length=len(Workaround))] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> RunOptions:
        if not self.stated:
            raise ValueError("settings state one option or more: " + ", ".join(type(self).model_fields))
        return self

    @property
    def stated(self) -> dict[str, Any]:
        """Option → value of what is stated."""
        return self.model_dump(mode="json", exclude_none=True)


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
