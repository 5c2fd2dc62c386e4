"""What a fingerprint is made of: typed, canonical facts of drivers, and what is odd about a report."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property

from pydantic import BaseModel, ConfigDict

from policies import catalog
from policies.operation_outputs import OperationOutputs
from policies.reference_run import ReferenceRun
from policies.vocabulary import Delegate


class Presence(StrEnum):
    """Three-valued: what the probe could not determine is never taken for "no"."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Fact(BaseModel):
    """A value that never changes."""

    model_config = ConfigDict(frozen=True)


class Accelerator(Fact):
    """An NNAPI driver. `supports` is measured per operation and operand type; None where it was not asked.

    `reference` is what the probe's reference graph took on it, `outputs` what it computes of single operations:
    measurements, not among the facts of a class.
    """

    name: str
    raw_name: str
    kind: str
    driver_version: str | None = None
    level: int | None = None
    int8: bool | None = None
    fp16: bool | None = None
    supports: Mapping[str, tuple[str, ...]] | None = None
    probe_status: str | None = None
    reference: ReferenceRun | None = None
    outputs: OperationOutputs | None = None

    @property
    def no_faster_than_cpu(self) -> bool:
        """Whether it was measured to need what NNAPI's own CPU needs: it only pretends to accelerate."""
        return not self.is_cpu and self.reference is not None and self.reference.no_faster_than_cpu is True

    @property
    def is_cpu(self) -> bool:
        """The reference implementation is a CPU, ten times slower than XNNPACK: never an accelerator."""
        return self.kind == "cpu"

    @cached_property
    def support_key(self) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
        """`supports` as a hashable value."""
        return tuple(self.supports.items()) if self.supports is not None else None


class Gpu(Fact):
    """The GPU by family and its API versions, as the driver writes them."""

    family: str
    renderer: str
    gles: str | None = None
    vulkan: str | None = None
    opencl: str | None = None


class VendorRuntime(Fact):
    """A vendor NPU runtime: whether it loads is measured, what it is worth is a hint. Or what the app loads models with.

    `search`: what a probe that could not tell said of its search.
    """

    name: str
    delegate: Delegate | None
    presence: Presence
    version: str | None = None
    search: str | None = None

    @property
    def of_app(self) -> bool:
        """Whether it is the app's own library, and reaches no silicon by itself."""
        entry = catalog.runtimes().entries.get(self.name)
        return entry is not None and entry.delegate is None


class Anomaly(Fact):
    """Something that does not fit, with a stable code and the facts behind it."""

    code: str
    detail: str
