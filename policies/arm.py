"""The arms a device can run: variant × runtime × delegate × accelerator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from policies.fingerprint import Fingerprint
from policies.model import ModelSpec, Variant
from policies.silicon import Accelerator, Presence, VendorRuntime
from policies.vocabulary import MIN_NNAPI_LEVEL, VENDOR_DELEGATES, Delegate, Format, Precision


@dataclass(frozen=True)
class Arm:
    """Something a device can run. The id names no model, so that arms compare across models."""

    variant: Variant
    delegate: Delegate
    accelerator: Accelerator | None = None

    @cached_property
    def id(self) -> str:
        """`{precision}.{format}.{delegate}`, and the accelerator where one is named."""
        name = f"{self.variant.precision}.{self.variant.format}.{self.delegate}"
        return f"{name}.{self.accelerator.name}" if self.accelerator else name


_FORMAT_DELEGATES: Final = {
    Format.TFLITE: (Delegate.CPU, Delegate.GPU, Delegate.NNAPI, *VENDOR_DELEGATES),
    Format.ONNX: (Delegate.CPU, Delegate.QNN),
    Format.ONNX_EPCONTEXT: (Delegate.QNN,),
    Format.DLC: (Delegate.QNN,),
    Format.QNN_CONTEXT: (Delegate.QNN,),
    Format.PTL: (Delegate.CPU,),
    Format.PTE: (Delegate.CPU, *VENDOR_DELEGATES),
}


def arm_ids(variant: Variant, drivers: Iterable[str]) -> Iterator[str]:
    """Every id that an arm of the variant can have where these are the NNAPI drivers."""
    for delegate in _FORMAT_DELEGATES[variant.format]:
        name = f"{variant.precision}.{variant.format}.{delegate}"
        yield from (f"{name}.{driver}" for driver in drivers) if delegate is Delegate.NNAPI else (name,)


def executable_arms(fingerprint: Fingerprint, model: ModelSpec) -> Iterator[Arm]:
    """Arms of the model that this device has everything for. What is only hinted at is not offered."""
    for variant in _fitting(fingerprint, model):
        for delegate in _FORMAT_DELEGATES[variant.format]:
            yield from _arms(fingerprint, variant, delegate)


_COMPILED: Final = frozenset({Format.QNN_CONTEXT, Format.ONNX_EPCONTEXT})
"""Binaries for one chip: without a named target they run nowhere for sure."""


def _fitting(fingerprint: Fingerprint, model: ModelSpec) -> Iterable[Variant]:
    """One variant of each precision and format: what was built for this chip goes before what runs on any."""
    fitting: dict[tuple[Precision, Format], Variant] = {}
    for variant in sorted(model.variants, key=lambda v: not v.targets):
        portable = not variant.targets and variant.format not in _COMPILED
        # A binary for another chip fails at load, at best.
        if (portable or fingerprint.soc in variant.targets) and _loads_here(variant, fingerprint):
            fitting.setdefault((variant.precision, variant.format), variant)
    return fitting.values()


def _arms(fingerprint: Fingerprint, variant: Variant, delegate: Delegate) -> Iterator[Arm]:
    if delegate is Delegate.CPU:
        yield Arm(variant, delegate)
    elif delegate is Delegate.GPU:
        if fingerprint.gpu is not None:
            yield Arm(variant, delegate)
    elif delegate is Delegate.NNAPI:
        if variant.sized_ahead:
            yield from (Arm(variant, delegate, a) for a in nnapi_targets(fingerprint))
    elif any(r.delegate is delegate for r in _loading(fingerprint)):
        yield Arm(variant, delegate)


def _loading(fingerprint: Fingerprint) -> Iterator[VendorRuntime]:
    return (runtime for runtime in fingerprint.runtimes if runtime.presence is Presence.YES)


def _loads_here(variant: Variant, fingerprint: Fingerprint) -> bool:
    """Whether a runtime of the file's delegates is within its range; a version that is not known is not."""
    needed, delegates = variant.needed_runtime, _FORMAT_DELEGATES[variant.format]
    versions = [r.version for r in _loading(fingerprint) if r.delegate in delegates]
    return needed is None or any(version is not None and needed.holds(version) for version in versions)


def nnapi_targets(fingerprint: Fingerprint) -> Iterator[Accelerator]:
    """NNAPI drivers worth naming: no CPU reference, no test driver, none below NNAPI 1.2, none that failed its probe.

    A driver that lists itself under two of its names is named once, by the entry of the higher level. None where the
    app's runtime cannot name one: NNAPI's own choice may be the reference CPU, and was measured 9 × slower.
    """
    if not fingerprint.names_accelerators:
        return
    named: dict[str, Accelerator] = {}
    for accelerator in sorted(fingerprint.accelerators, key=lambda a: (a.name, -(a.level or 0))):
        usable = accelerator.kind not in {"cpu", "sample"} and accelerator.probe_status in {None, "ok"}
        if usable and (accelerator.level or 0) >= MIN_NNAPI_LEVEL and (fingerprint.nnapi_level or 0) >= MIN_NNAPI_LEVEL:
            named.setdefault(accelerator.name, accelerator)
    yield from named.values()
