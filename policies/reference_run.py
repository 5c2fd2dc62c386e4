"""The probe's reference graph on a driver, timed against NNAPI's own CPU: a measurement, however small the graph."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

Milliseconds = Annotated[float, Field(ge=0, le=3_600_000)]

LEAST_CPU_MS: Final = 3.0
"""Below, the way to a driver and back takes as long as the CPU takes for the graph: nothing can be told apart."""
SAME_SPEED: Final = 1.5
"""Two times that the probe rounds to neighbouring steps (1, 1.5, 2, 3, 5, 7, 10) may be the same."""


class ReferenceRun(BaseModel):
    """Median times of the graph (ms) in one operand type, coarse, None where the probe did not come to it.

    `compile_ms` cold and `cached_compile_ms` from the cache; `execute_ms` after a first run, `burst_ms` in a burst;
    `cpu_execute_ms` with the same graph forced onto NNAPI's CPU, which is some ten times slower than XNNPACK.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    type: Annotated[str, Field(max_length=128)] | None = None
    compile_ms: Milliseconds | None = None
    cached_compile_ms: Milliseconds | None = None
    first_execute_ms: Milliseconds | None = None
    execute_ms: Milliseconds | None = None
    burst_ms: Milliseconds | None = None
    cpu_execute_ms: Milliseconds | None = None

    @property
    def no_faster_than_cpu(self) -> bool | None:
        """Whether the driver needs what the CPU needs, because the CPU computes; None where that cannot be told."""
        if self.execute_ms is None or self.cpu_execute_ms is None or self.cpu_execute_ms < LEAST_CPU_MS:
            return None
        return self.execute_ms * SAME_SPEED >= self.cpu_execute_ms

    def __str__(self) -> str:
        return f"{self.execute_ms:g} ms, forced onto NNAPI's CPU {self.cpu_execute_ms:g} ms"
