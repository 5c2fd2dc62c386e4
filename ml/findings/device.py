"""What detectors need to know of a device class beyond its SoC."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from policies.fingerprint import Fingerprint


@dataclass(frozen=True)
class Device:
    """`versions`: driver version by what executes, as in `nnapi.mtk-neuron`. `year` and `tier` are hints, None unknown."""

    soc: str
    vendor: str | None = None
    year: float | None = None
    tier: float | None = None
    api_level: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)


def devices_of(fingerprints: Iterable[Fingerprint]) -> dict[str, Device]:
    """Devices by class."""
    return {f.device_class: _device(f) for f in fingerprints}


def _device(f: Fingerprint) -> Device:
    drivers = {f"nnapi.{a.name}": a.driver_version for a in f.accelerators if a.driver_version}
    runtimes = {str(r.delegate): r.version for r in f.runtimes if r.delegate and r.version}
    hints = f.hints
    return Device(
        f.soc or "unknown", f.soc_vendor, hints.get("year"), hints.get("tier"), f.api_level, {**drivers, **runtimes}
    )
