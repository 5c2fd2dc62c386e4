"""Whom a lab measurement is credited to: the one who executed, never the one who was asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from ml.datasets.lab.measurement import LabMeasurement
from policies import catalog
from policies.arm import Arm, executable_arms
from policies.canonical import canonical_accelerator
from policies.fingerprint import Fingerprint
from policies.model import ModelSpec, Variant
from policies.screen import MAX_PLAUSIBLE_US, MIN_PLAUSIBLE_US
from policies.vocabulary import Delegate


class NotLearned(StrEnum):
    """Why a lab measurement is kept and not learned from. Stable codes."""

    UNKNOWN_EXECUTOR = "unknown-executor"
    MIXED_EXECUTORS = "mixed-executors"
    REFERENCE_CPU = "reference-cpu"
    ACCELERATOR_NOT_NAMED = "accelerator-not-named"
    ARM_NOT_ON_DEVICE = "arm-not-on-device"
    OUT_OF_RANGE = "latency-out-of-range"
    POPULATION = "population-not-learnable"


_DELEGATES: Final = MappingProxyType(
    {
        "nnapi": Delegate.NNAPI,
        "tflitennapidelegate": Delegate.NNAPI,
        "gpu": Delegate.GPU,
        "tflitegpudelegate": Delegate.GPU,
        "tflitegpudelegatev2": Delegate.GPU,
        "xnnpack": Delegate.CPU,
        "tflitexnnpackdelegate": Delegate.CPU,
        "qnn": Delegate.QNN,
        "tfliteqnndelegate": Delegate.QNN,
        "edgetpu": Delegate.EDGETPU,
    }
)
"""Delegates by the names that tools and TFLite's log give them, in small letters."""


@dataclass(frozen=True, slots=True)
class Credited:
    """Who executed: `by` in words, the arm where it is one of the device's, and why it is not learned from (None: it is)."""

    by: str
    arm: str | None
    reason: NotLearned | None


def credited(measurement: LabMeasurement, variant: Variant, fingerprint: Fingerprint, model: ModelSpec) -> Credited:
    """The arm that the measurement is of, on a device with this fingerprint that ran this file."""
    took = list(dict.fromkeys(claim.delegate for claim in measurement.claims if claim.took_any))
    # The last claim decides: a delegate that comes later takes what an earlier one left, or what it gave back.
    name = took[-1] if took else "TFLite's own kernels"
    delegate = _DELEGATES.get(name.lower()) if took else Delegate.CPU
    if delegate is None:
        return Credited(name, None, NotLearned.UNKNOWN_EXECUTOR)
    driver = _driver(measurement) if delegate is Delegate.NNAPI else None
    by = f"{name}:{driver}" if driver else name
    reason = _mixed(took) or (_nnapi_fault(driver) if delegate is Delegate.NNAPI else None)
    if reason is not None:
        return Credited(by, None, reason)
    arm = _arm(variant, delegate, driver, executable_arms(fingerprint, model))
    return Credited(by, arm, _arm_fault(arm) or _number_fault(measurement, fingerprint))


def _driver(measurement: LabMeasurement) -> str | None:
    """The NNAPI driver that was asked, or the only one there was; without either, NNAPI chose for itself."""
    if measurement.asked_accelerator:
        return measurement.asked_accelerator
    drivers = [name for name in measurement.accelerators if not _is_cpu(name)] or list(measurement.accelerators)
    return drivers[0] if len(drivers) == 1 else None


def _is_cpu(driver: str) -> bool:
    known = catalog.accelerators().find(driver)
    return known is not None and known[1].kind == "cpu"


def _mixed(took: Sequence[str]) -> NotLearned | None:
    """Two delegates that both hold nodes: the time is neither's."""
    return NotLearned.MIXED_EXECUTORS if len(took) > 1 else None


def _nnapi_fault(driver: str | None) -> NotLearned | None:
    if driver is None:
        return NotLearned.ACCELERATOR_NOT_NAMED
    # A CPU, and ten times slower than XNNPACK: neither an accelerator's time nor the CPU arm's.
    return NotLearned.REFERENCE_CPU if _is_cpu(driver) else None


def _arm(variant: Variant, delegate: Delegate, driver: str | None, offered: Iterable[Arm]) -> str | None:
    name = canonical_accelerator(driver) if driver else None
    fitting = (arm for arm in offered if (arm.variant, arm.delegate) == (variant, delegate))
    return next((arm.id for arm in fitting if (arm.accelerator.name if arm.accelerator else None) == name), None)


def _arm_fault(arm: str | None) -> NotLearned | None:
    return NotLearned.ARM_NOT_ON_DEVICE if arm is None else None


def _number_fault(measurement: LabMeasurement, fingerprint: Fingerprint) -> NotLearned | None:
    if not MIN_PLAUSIBLE_US <= measurement.latency_us <= MAX_PLAUSIBLE_US:
        return NotLearned.OUT_OF_RANGE
    return None if fingerprint.learnable else NotLearned.POPULATION
