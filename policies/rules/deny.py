"""Denies: arms that a cohort must not run. They beat everything; of several that hit, the narrowest is named."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field, field_validator

from policies.arm import Arm
from policies.canonical import canonical_accelerator, canonical_gpu, canonical_manufacturer, canonical_soc
from policies.fingerprint import Fingerprint
from policies.model import Slug
from policies.report import MAX_SOC_ID
from policies.rules.globs import Globs
from policies.rules.when import When
from policies.silicon import Accelerator
from policies.validation import Stated


class Cohort(Stated):
    """A set of device classes. Empty lists match all; what is unknown on a device matches nothing.

    `soc_ids` are the kernel's numbers of SoCs: siblings share a name, not a number.
    """

    socs: tuple[str, ...] = ()
    soc_ids: tuple[Annotated[int, Field(ge=0, le=MAX_SOC_ID)], ...] = ()
    gpus: tuple[str, ...] = ()
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
        return tuple(canonical_manufacturer(name) for name in names)

    @field_validator("accelerators")
    @classmethod
    def _canonical_accelerators(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(canonical_accelerator(name) for name in names)

    @field_validator("gpus")
    @classmethod
    def _canonical_gpus(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(canonical_gpu(name) for name in names)

    def holds(self, facts: Fingerprint, arm: Arm) -> bool:
        """Whether the device, running this arm, is in the cohort."""
        return self.holds_device(facts) and self.holds_accelerator(arm.accelerator)

    def holds_device(self, facts: Fingerprint) -> bool:
        """Whether the device is one that runs some arm in the cohort, as far as its own facts tell."""
        return all(not wanted or fact in wanted for wanted, fact in zip(self.of_device, device_key(facts), strict=True))

    def holds_accelerator(self, accelerator: Accelerator | None) -> bool:
        """Whether the accelerator is one that the cohort names."""
        name, version = (accelerator.name, accelerator.driver_version) if accelerator else (None, None)
        return (not self.accelerators or name in self.accelerators) and (
            not self.driver_versions or version in self.driver_versions
        )

    @property
    def of_device(self) -> tuple[tuple[str | int, ...], ...]:
        """What is stated of the device itself, in the order of `device_key`."""
        return (self.device_classes, self.models, self.gpus, self.soc_ids, self.socs, self.manufacturers)

    @property
    def width(self) -> int:
        """How many facts it leaves open: the narrower wins."""
        return sum(not getattr(self, name) for name in type(self).model_fields)


def device_key(facts: Fingerprint) -> tuple[str | int | None, ...]:
    """The facts of a device that cohorts are stated by, from the narrowest to the widest."""
    family = facts.gpu.family if facts.gpu else None
    return (facts.device_class, facts.model, family, facts.soc_id, facts.soc, facts.manufacturer)


class Deny(Stated):
    """Arms that a cohort must not run. `arms` are globs over arm ids; `until` is the last day, in UTC.

    With `when` it holds only where the condition does: where that is unknown, it does not.
    """

    id: Slug
    arms: Globs
    models: tuple[Slug, ...] = ()
    cohort: Cohort = Cohort()
    when: When | None = None
    reason: Annotated[str, Field(min_length=1, max_length=500)]
    until: date | None = None

    @property
    def width(self) -> int:
        """How much it leaves open: the narrower is named. A condition narrows as much as a fact does."""
        return self.cohort.width + (self.when is None)
