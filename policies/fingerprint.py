"""CapabilityReport → Fingerprint: typed, canonical facts of a device class, and what is odd about them.

The server canonicalises, never the client: a wrong alias is mended in one place and for reports already stored.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from policies import catalog, drivers
from policies.canonical import canonical_manufacturer, canonical_soc
from policies.population import Population, population_of
from policies.report import CapabilityReport, Client, Device
from policies.silicon import Accelerator, Anomaly, Fact, Gpu, Presence, VendorRuntime


class Fingerprint(Fact):
    """Canonical facts of one device class. `hints` are claims about the silicon; all else was read on the phone.

    `soc_id` tells siblings apart that share a name; `names_accelerators`: whether the app's runtime can have NNAPI use
    the driver that a decision names.
    """

    device_class: str
    manufacturer: str
    model: str
    soc: str | None
    soc_id: int | None = None
    soc_vendor: str | None
    api_level: int
    ram_gb: int | None
    abis: tuple[str, ...]
    cpu_cores: int | None
    cpu_features: tuple[str, ...]
    nnapi_level: int | None
    accelerators: tuple[Accelerator, ...]
    gpu: Gpu | None
    runtimes: tuple[VendorRuntime, ...]
    shared_buffers: bool | None
    names_accelerators: bool = True
    build: str | None
    population: Population
    anomalies: tuple[Anomaly, ...]
    hints: Mapping[str, float]

    @cached_property
    def driver_stack(self) -> str:
        """The SoC and its drivers by version: what latencies depend on. Classes that share it learn together."""
        stack = [(a.name, a.driver_version, a.level) for a in self.accelerators if not a.is_cpu]
        runtimes = [(r.name, r.presence, r.version) for r in self.runtimes]
        parts = (self.soc, stack, runtimes, self.gpu.family if self.gpu else None, self.nnapi_level)
        named = repr(parts if self.soc_id is None else (*parts, self.soc_id))
        return f"{self.soc or 'unknown'}-{hashlib.sha256(named.encode()).hexdigest()[:8]}"

    @property
    def learnable(self) -> bool:
        """Whether observations of this class may feed learning."""
        return self.population is Population.RETAIL and not any(a.code in _CONTRADICTIONS for a in self.anomalies)

    @property
    def accelerated(self) -> bool:
        """Whether there is an NNAPI driver that is no CPU and no test driver, or a vendor's runtime that loads."""
        driven = any(one.kind not in {"cpu", "sample"} for one in self.accelerators)
        return driven or any(r.presence is Presence.YES and not r.of_app for r in self.runtimes)

    @property
    def undetermined(self) -> tuple[str, ...]:
        """What another probe could still find out: vendor runtimes of this SoC, and which operations drivers take."""
        entries = catalog.runtimes().entries
        runtimes = [r.name for r in self.runtimes if r.presence is Presence.UNKNOWN and r.delegate is not None]
        unasked = [a.name for a in self.accelerators if a.supports is None and a.kind not in {"cpu", "sample"}]
        ours = [f"runtimes.{name}" for name in runtimes if entries[name].vendor == self.soc_vendor]
        return (*ours, *(f"nnapi.{name}.supports" for name in unasked))

    @property
    def driver_switched_off(self) -> bool:
        """The SoC should have an NPU, and NNAPI lists nothing, or nothing that supports any operation."""
        return any(a.code == "driver-switched-off" for a in self.anomalies)


_CONTRADICTIONS: Final = frozenset({"api-level-contradiction", "brand-contradiction"})
"""Anomalies of a report that says two things of one: which of them holds nobody knows."""

# Facts that make two phones the same class. The build is left out: it names one firmware of many that behave alike,
# and a changed driver shows in the accelerators' versions. It still enters every compile-cache token.
_CLASS_FACTS: Final = {
    "manufacturer", "model", "soc", "api_level", "ram_gb", "abis", "cpu_cores", "cpu_features", "nnapi_level",
    "accelerators", "gpu", "runtimes", "shared_buffers", "population",
}  # fmt: skip
# What the catalogue says of a driver may be corrected without renaming every class; an alias is the same driver.
_SAID_OF_IT: Final = {"raw_name", "kind", "int8", "fp16", "probe_status", "reference", "outputs", "search"}
_NOT_CLASS_FACTS: Final = {part: {"__all__": _SAID_OF_IT} for part in ("accelerators", "runtimes")}


def fingerprint(report: CapabilityReport) -> Fingerprint:
    """The fingerprint of a report. Total: what does not fit becomes an anomaly or an unknown, never an error."""
    anomalies: list[Anomaly] = []
    device = report.device
    soc, soc_entry = _soc(report, anomalies)
    accelerators = tuple(
        sorted((drivers.accelerator(d, report.nnapi, anomalies) for d in report.nnapi.devices), key=_canonical)
        if report.nnapi
        else ()
    )
    facts = Fingerprint(
        device_class="",
        manufacturer=canonical_manufacturer(device.manufacturer),
        model=device.model.strip(),
        soc=soc,
        soc_id=device.soc_id,
        soc_vendor=soc_entry.vendor if soc_entry else None,
        api_level=device.api_level,
        ram_gb=round(device.ram_mb / 1024) if device.ram_mb else None,
        abis=tuple(sorted(set(device.abis))),
        cpu_cores=device.cpu.cores,
        cpu_features=tuple(sorted({f.lower() for f in device.cpu.features})),
        nnapi_level=drivers.runtime_level(report.nnapi, anomalies) if report.nnapi else None,
        accelerators=accelerators,
        gpu=drivers.gpu(report),
        runtimes=tuple(
            sorted((drivers.vendor_runtime(k, v, anomalies) for k, v in report.runtimes.items()), key=_canonical)
        ),
        shared_buffers=report.memory.ahardwarebuffer,
        names_accelerators=_names_accelerators(report.client, accelerators),
        build=device.build_fingerprint,
        population=population_of(report.device, any(a.kind == "sample" for a in accelerators)),
        anomalies=(),
        hints=_hints(soc_entry),
    )
    contradictions = [*_contradictions(facts), *_another_brand(device)]
    anomalies += [
        *contradictions,
        *_switched_off(facts, soc_entry),
        *_not_nameable(facts),
        *_pretending(facts),
        *_miscomputing(facts),
    ]
    anomalies.sort(key=lambda anomaly: (anomaly.code, anomaly.detail))
    device_class = _class_of(facts, contradictions)
    return facts.model_copy(update={"device_class": device_class, "anomalies": tuple(anomalies)})


def _class_of(facts: Fingerprint, contradictions: list[Anomaly]) -> str:
    """A report that contradicts itself is a class of its own: it must not decide what is learned of honest ones."""
    canonical = facts.model_dump_json(include=_CLASS_FACTS, exclude=_NOT_CLASS_FACTS)
    parts = [canonical, *(anomaly.code for anomaly in contradictions), *_rarely_stated(facts)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _rarely_stated(facts: Fingerprint) -> Iterator[str]:
    """Facts that most reports leave out: where they say nothing, the class is named as it always was."""
    if facts.soc_id is not None:
        yield f"soc_id {facts.soc_id}"
    if not facts.names_accelerators:
        yield "names no accelerator"


def _names_accelerators(client: Client, accelerators: tuple[Accelerator, ...]) -> bool:
    """What cannot be named can still be the only one that is left, where the CPU can be ruled out."""
    alone = sum(not a.is_cpu for a in accelerators) == 1
    return client.can_name_accelerator is not False or (alone and client.can_exclude_cpu is True)


def _canonical(part: Accelerator | VendorRuntime) -> tuple[str, str, str]:
    """The order of a list of drivers. Aliases decide last: they are not part of the class."""
    driver = part.model_dump_json(exclude=_SAID_OF_IT)
    return part.name, driver, part.model_dump_json()


def _soc(report: CapabilityReport, anomalies: list[Anomaly]) -> tuple[str | None, catalog.SocEntry | None]:
    raw = report.device.soc_model
    if not raw:
        return None, None
    found = catalog.socs().find(raw)
    if found:
        return found
    anomalies.append(Anomaly(code="new-soc", detail=f"no known SoC is called {raw!r}"))
    return canonical_soc(raw) or None, None


def _hints(entry: catalog.SocEntry | None) -> dict[str, float]:
    """Numbers about the silicon that the learner compares chips by."""
    if entry is None:
        return {}
    npu = entry.npu
    hints = {
        "year": entry.year,
        "tier": entry.tier,
        "npu_version": npu.version if npu else None,
        "npu_fp16": float(npu.fp16) if npu and npu.fp16 is not None else None,
    }
    return {key: float(value) for key, value in hints.items() if value is not None}


_ANDROID_API: Final = {
    "8.1": 27, "8.1.0": 27, "9": 28, "10": 29, "11": 30, "12": 31, "12L": 32, "13": 33, "14": 34, "15": 35, "16": 36, "17": 37,
}  # fmt: skip
_BUILD_VERSION: Final = re.compile(r":(\d+(?:\.\d+)*L?)/")


def _contradictions(facts: Fingerprint) -> Iterator[Anomaly]:
    stated = _BUILD_VERSION.search(facts.build or "")
    built = _ANDROID_API.get(stated.group(1)) if stated else None
    # Builds of 12L call themselves "12".
    if stated is None or built is None or facts.api_level in {built, 32 if built == 31 else built}:
        return
    detail = f"API level {facts.api_level}, but the build says Android {stated.group(1)}"
    yield Anomaly(code="api-level-contradiction", detail=detail)


def _another_brand(device: Device) -> Iterator[Anomaly]:
    """Android has a build begin with the brand: where it does not, one of the two was put on to look like another phone."""
    brand, slash, _ = (device.build_fingerprint or "").partition("/")
    if slash and device.brand and brand.lower() != device.brand.strip().lower():
        yield Anomaly(code="brand-contradiction", detail=f"brand {device.brand!r}, but the build says {brand!r}")


# Vendors whose NPU answers to NNAPI; a Snapdragon's of today answers to QNN alone.
_NNAPI_VENDORS: Final = frozenset({"google", "mediatek", "samsung"})


def _switched_off(facts: Fingerprint, soc: catalog.SocEntry | None) -> Iterator[Anomaly]:
    npu_expected = soc is not None and soc.npu is not None and soc.vendor in _NNAPI_VENDORS
    vendor_runtime = any(r.presence is Presence.YES and not r.of_app for r in facts.runtimes)
    # The vendor's own runtime was looked for and not found where it was looked for: nobody can say that all is off.
    searched = any(r.search is not None and not r.of_app for r in facts.runtimes)
    alive = any(not a.is_cpu and (a.supports is None or any(a.supports.values())) for a in facts.accelerators)
    if npu_expected and facts.nnapi_level is not None and not (vendor_runtime or searched or alive):
        detail = f"{facts.soc} has an NPU, but NNAPI lists no accelerator that supports any operation"
        yield Anomaly(code="driver-switched-off", detail=detail)


def _not_nameable(facts: Fingerprint) -> Iterator[Anomaly]:
    left = [a.name for a in facts.accelerators if not a.is_cpu]
    if left and not facts.names_accelerators:
        detail = f"the app's runtime leaves it to NNAPI which of {', '.join(left)} or the CPU runs a model"
        yield Anomaly(code="accelerator-not-nameable", detail=detail)


def _miscomputing(facts: Fingerprint) -> Iterator[Anomaly]:
    for one in facts.accelerators:
        if one.outputs is not None and one.outputs.wrong:
            yield Anomaly(code="miscomputes", detail=f"{one.name} differs from NNAPI's CPU in {one.outputs}")


def _pretending(facts: Fingerprint) -> Iterator[Anomaly]:
    for one in facts.accelerators:
        if one.no_faster_than_cpu:
            yield Anomaly(code="no-faster-than-cpu", detail=f"{one.name}: the probe's graph takes {one.reference}")
