"""What detectors need to know of a device class beyond its SoC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from policies.fingerprint import Fingerprint
from policies.silicon import Accelerator
from policies.vocabulary import RUNTIME_OF_FORMAT, Runtime


@dataclass(frozen=True)
class Device:
    """`soc_id` tells siblings of a SoC apart. `versions`: driver version by what executes, as in `nnapi.mtk-neuron`. `year` and `tier` are hints, None unknown.

    `runtimes`: versions of the libraries that the app loads models with, by `Runtime`, where there is one of a kind.
    `drivers`: NNAPI drivers that are listed, those of the CPU aside. `no_faster`: whether the probe measured them to need
    what NNAPI's CPU needs, where it could tell; `miscomputes`: operations that it found wrong, of drivers that it compared. `reports` of the class, all of them distinct.
    """

    soc: str
    vendor: str | None = None
    year: float | None = None
    tier: float | None = None
    soc_id: int | None = None
    api_level: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    runtimes: Mapping[str, str] = field(default_factory=dict)
    phone: str = ""
    drivers: frozenset[str] = frozenset()
    no_faster: Mapping[str, bool] = field(default_factory=dict)
    miscomputes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    switched_off: bool = False
    reports: int = 1

    def sibling(self, target: str) -> dict[str, str]:
        """What tells it from others with its SoC that run the target: number and driver version, "" where not known."""
        return {"soc_id": "" if self.soc_id is None else str(self.soc_id), "version": self.versions.get(target, "")}

    def runtime_of(self, arm: str) -> str | None:
        """Version of the library that loads the arm's file."""
        return self.runtimes.get(_RUNTIME_OF_FORMAT.get(arm.split(".", 2)[1] if "." in arm else "", ""))


_RUNTIME_OF_FORMAT: Final[Mapping[str, str]] = {str(kind): str(runtime) for kind, runtime in RUNTIME_OF_FORMAT.items()}
_LIBRARIES: Final = {"litert": Runtime.LITERT, "onnxruntime": Runtime.ONNXRUNTIME, "executorch": Runtime.PYTORCH}
"""Libraries as reports name them."""


def devices_of(fingerprints: Iterable[Fingerprint], reports: Mapping[str, int] | None = None) -> dict[str, Device]:
    """Devices by class. `reports`: distinct reports by class; one each where that is not known."""
    return {f.device_class: _device(f, (reports or {}).get(f.device_class, 1)) for f in fingerprints}


def _device(f: Fingerprint, reports: int) -> Device:
    listed = [a for a in f.accelerators if not a.is_cpu]
    versions = {f"nnapi.{a.name}": a.driver_version for a in listed if a.driver_version}
    runtimes = {str(r.delegate): r.version for r in f.runtimes if r.delegate and r.version}
    hints = f.hints
    return Device(
        soc=f.soc or "unknown",
        vendor=f.soc_vendor,
        soc_id=f.soc_id,
        year=hints.get("year"),
        tier=hints.get("tier"),
        api_level=f.api_level,
        versions={**versions, **runtimes},
        runtimes=_libraries(f),
        phone=f"{f.manufacturer} {f.model}",
        drivers=frozenset(f"nnapi.{a.name}" for a in listed),
        no_faster={f"nnapi.{a.name}": told for a in listed if (told := _no_faster(a)) is not None},
        miscomputes={f"nnapi.{a.name}": frozenset(a.outputs.wrong) for a in listed if a.outputs is not None},
        switched_off=f.driver_switched_off,
        reports=reports,
    )


def _libraries(f: Fingerprint) -> dict[str, str]:
    """Of two of one kind, in two versions, nobody knows which one loads."""
    known = {(_LIBRARIES[r.name], r.version) for r in f.runtimes if r.name in _LIBRARIES and r.version}
    kinds = Counter(kind for kind, _ in known)
    return {str(kind): version for kind, version in known if kinds[kind] == 1}


def _no_faster(one: Accelerator) -> bool | None:
    return one.reference.no_faster_than_cpu if one.reference is not None else None
