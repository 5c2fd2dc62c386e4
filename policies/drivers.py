"""What a probe said of NNAPI drivers, the GPU and vendor runtimes → canonical facts; what does not fit becomes an anomaly.

Each function adds to `anomalies` what it meets.
"""

from __future__ import annotations

import reprlib
from typing import Final

from policies import catalog
from policies.canonical import canonical_accelerator, canonical_gpu
from policies.report import CapabilityReport, Nnapi, NnapiDevice
from policies.silicon import Accelerator, Anomaly, Gpu, Presence, VendorRuntime
from policies.vocabulary import LevelEncoding, feature_level


def runtime_level(nnapi: Nnapi, anomalies: list[Anomaly]) -> int | None:
    """NNAPI's own feature level, from 1; None where the report does not tell."""
    return _level(nnapi.runtime_feature_level, nnapi.feature_level_encoding, "nnapi", anomalies)


def _level(raw: float | str | None, encoding: str | None, where: str, anomalies: list[Anomaly]) -> int | None:
    if raw is None:
        return None
    level = feature_level(raw, encoding or LevelEncoding.RAW)
    if level is None:
        counted = f" in the encoding {encoding!r}" if encoding else ""
        detail = f"{where}: {reprlib.repr(raw)} is no NNAPI feature level{counted}"
        anomalies.append(Anomaly(code="ambiguous-feature-level", detail=detail))
    return level


def accelerator(device: NnapiDevice, nnapi: Nnapi, anomalies: list[Anomaly]) -> Accelerator:
    """One NNAPI driver."""
    found = catalog.accelerators().find(device.name)
    if found is None:
        anomalies.append(Anomaly(code="new-accelerator", detail=f"no known driver is called {device.name!r}"))
        kind, int8, fp16 = _kind(device.type), None, None
    else:
        entry = found[1]
        kind, int8, fp16 = entry.kind, entry.int8, entry.fp16
    supports = device.supports and {op: tuple(sorted(set(types))) for op, types in sorted(device.supports.items())}
    return Accelerator(
        name=canonical_accelerator(device.name),
        raw_name=device.name,
        kind=kind,
        driver_version=device.version,
        level=_level(
            device.feature_level, device.feature_level_encoding or nnapi.feature_level_encoding, device.name, anomalies
        ),
        int8=int8,
        fp16=fp16,
        supports=supports if device.supports is not None else None,
        probe_status=device.probe.status if device.probe else None,
        reference=device.probe.run if device.probe else None,
        outputs=device.outputs,
    )


def _kind(raw_type: str | None) -> str:
    """The kind of a driver whose name is new: only what NNAPI itself says of it."""
    return {"cpu": "cpu", "gpu": "gpu", "accelerator": "npu"}.get((raw_type or "").lower(), "other")


def gpu(report: CapabilityReport) -> Gpu | None:
    """The GPU; None where the report names none."""
    if report.gpu is None or not report.gpu.renderer:
        return None
    return Gpu(
        family=canonical_gpu(report.gpu.renderer),
        renderer=report.gpu.renderer,
        gles=report.gpu.gles,
        vulkan=report.gpu.vulkan,
        opencl=report.gpu.opencl,
    )


# Any other word ("not_found", "error") tells of the search, not of the phone: the library may lie elsewhere.
_PRESENCE: Final = {"loaded": Presence.YES, "absent": Presence.NO}


def vendor_runtime(name: str, state: str | None, anomalies: list[Anomaly]) -> VendorRuntime:
    """A runtime by the name and the state (`loaded 2.31`, `absent`, …) that the report gives it."""
    found = catalog.runtimes().find(name)
    if found is None:
        anomalies.append(Anomaly(code="new-runtime", detail=f"no known vendor runtime is called {name!r}"))
    word, _, version = (state or "").partition(" ")
    presence = _PRESENCE.get(word.lower(), Presence.UNKNOWN)
    told = presence is not Presence.UNKNOWN
    return VendorRuntime(
        name=found[0] if found else name,
        delegate=found[1].delegate if found else None,
        presence=presence,
        version=(version or None) if told else None,
        search=None if told else state or None,
    )
