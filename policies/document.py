"""PolicyDocument: what an operator states for one app. A typo is refused, with the field it stands in."""

from __future__ import annotations

from datetime import date
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from policies.arm import Arm, Slug
from policies.fingerprint import Fingerprint, canonical_accelerator, canonical_soc
from policies.validation import validated

Share = Annotated[float, Field(ge=0, le=1)]
WeightBp = Annotated[int, Field(ge=0, le=10_000)]


class _Stated(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Thresholds(_Stated):
    """Limits of the out-of-the-box rule: shares of operations delegated, and of a run spent on cuts."""

    lead_coverage: Share = 0.95
    cpu_coverage: Share = 0.70
    cut_cost_share: Share = 0.05
    cut_cost_ms: Annotated[float, Field(ge=0, le=1000)] = 0.3

    @model_validator(mode="after")
    def _in_order(self) -> Thresholds:
        if self.cpu_coverage > self.lead_coverage:
            raise ValueError("cpu_coverage must not exceed lead_coverage")
        return self


class Cohort(_Stated):
    """A set of device classes. Empty lists match all; what is unknown on a device matches nothing."""

    socs: tuple[str, ...] = ()
    manufacturers: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    device_classes: tuple[str, ...] = ()
    accelerators: tuple[str, ...] = ()
    driver_versions: tuple[str, ...] = ()

    # An operator writes names as the vendor does; fingerprints hold the canonical ones.
    @field_validator("socs")
    @classmethod
    def _canonical_socs(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(canonical_soc(name) for name in names)

    @field_validator("manufacturers")
    @classmethod
    def _canonical_manufacturers(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name.strip().lower() for name in names)

    @field_validator("accelerators")
    @classmethod
    def _canonical_accelerators(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(canonical_accelerator(name) for name in names)

    def holds(self, fingerprint: Fingerprint, arm: Arm) -> bool:
        """Whether the device, running this arm, is in the cohort."""
        accelerator = arm.accelerator
        facts = (
            (self.socs, fingerprint.soc),
            (self.manufacturers, fingerprint.manufacturer),
            (self.models, fingerprint.model),
            (self.device_classes, fingerprint.device_class),
            (self.accelerators, accelerator.name if accelerator else None),
            (self.driver_versions, accelerator.driver_version if accelerator else None),
        )
        return all(not wanted or fact in wanted for wanted, fact in facts)

    @property
    def width(self) -> int:
        """How many facts it leaves open: the narrower wins."""
        return sum(not getattr(self, name) for name in type(self).model_fields)


class Deny(_Stated):
    """Arms that a cohort must not run. `arms` are globs over arm ids; `until` is the last day, in UTC."""

    id: Slug
    arms: Annotated[tuple[str, ...], Field(min_length=1)]
    models: tuple[Slug, ...] = ()
    cohort: Cohort = Cohort()
    reason: Annotated[str, Field(min_length=1, max_length=500)]
    until: date | None = None

    def hits(self, fingerprint: Fingerprint, model: str, arm: Arm) -> bool:
        """Whether this deny takes the arm away from the device."""
        named = (not self.models or model in self.models) and any(fnmatchcase(arm.id, glob) for glob in self.arms)
        return named and self.cohort.holds(fingerprint, arm)


class TelemetryTerms(_Stated):
    """What devices are asked to report."""

    sample: Share = 1.0
    flush_s: Annotated[int, Field(ge=1, le=604_800)] = 3600


class PolicyDocument(_Stated):
    """The policy of one app."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    app: Slug
    thresholds: Thresholds = Thresholds()
    exploration_bp: WeightBp = 0
    ladder_rungs: Annotated[int, Field(ge=1, le=8)] = 4
    valid_s: Annotated[int, Field(ge=60, le=31_536_000)] = 2_592_000
    telemetry: TelemetryTerms = TelemetryTerms()
    denies: Annotated[tuple[Deny, ...], Field(max_length=10_000)] = ()

    @model_validator(mode="after")
    def _denies_apart(self) -> PolicyDocument:
        ids = [deny.id for deny in self.denies]
        if len(set(ids)) < len(ids):
            raise ValueError("two denies have one id")
        return self

    def in_force(self, today: date) -> PolicyDocument:
        """The document without the denies that ended before today: `until` is the last day they hold."""
        denies = tuple(deny for deny in self.denies if deny.until is None or today <= deny.until)
        return self.model_copy(update={"denies": denies})


def parse_document(raw: Any) -> PolicyDocument:
    """The document in a JSON value; raises InvalidField for the first thing wrong."""
    return validated(PolicyDocument, raw)
