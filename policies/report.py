"""CapabilityReport: what a probe on the device says. Content-addressed: its id is the digest of its exact bytes."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from policies import strict_json
from policies.errors import DigestMismatch, UnitIdentifier
from policies.identifiers import identifiers
from policies.operation_outputs import OperationOutputs
from policies.reference_run import ReferenceRun
from policies.validation import validated

MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 12
MAX_LEVEL_CHARACTERS: Final = 40
MAX_SOC_ID: Final = 2**31 - 1

Text = Annotated[str, StringConstraints(max_length=512, pattern=r"^[^\x00-\x1f\x7f]*$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")]


class _Part(BaseModel):
    # An old server meets new probes: what it does not know is left out, never an error.
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Cpu(_Part):
    """Cores and the feature flags that decide which kernels XNNPACK picks ("fp16", "dotprod", "i8mm")."""

    cores: Annotated[int, Field(ge=1, le=1024)] | None = None
    features: Annotated[tuple[Name, ...], Field(max_length=256)] = ()


class Device(_Part):
    """What `android.os.Build` and the system properties say; `soc_id` is the number that the kernel gives the SoC."""

    manufacturer: Name
    brand: Text | None = None
    model: Name
    product: Text | None = None
    soc_manufacturer: Text | None = None
    soc_model: Text | None = None
    soc_id: Annotated[int, Field(ge=0, le=MAX_SOC_ID)] | None = None
    api_level: Annotated[int, Field(ge=1, le=10_000)]
    build_fingerprint: Text | None = None
    abis: Annotated[tuple[Name, ...], Field(max_length=16)] = ()
    ram_mb: Annotated[int, Field(ge=1, le=4_194_304)] | None = None
    cpu: Cpu = Cpu()


class NnapiProbe(ReferenceRun):
    """A reference graph compiled and run on this very accelerator. `error` is the phase that NNAPI refused, with its code."""

    status: Name = "ok"
    error: Text | None = None

    @property
    def run(self) -> ReferenceRun | None:
        """The times of a graph that came out right; of one that did not they say nothing."""
        run = ReferenceRun.model_validate(self.model_dump(include=set(ReferenceRun.model_fields)))
        return run if self.status == "ok" and run != ReferenceRun() else None


def _told(level: object) -> object:
    """A feature level of whatever kind: one that is none is left unknown by itself, and sinks no report."""
    told = level if level is None or type(level) in {int, float} else str(level)
    return told[:MAX_LEVEL_CHARACTERS] if isinstance(told, str) else told


Level = Annotated[int | float | str | None, BeforeValidator(_told)]


class NnapiDevice(_Part):
    """One entry of `ANeuralNetworks_getDevice`. `supports` holds NNAPI operation → operand types, measured.

    `feature_level_encoding` says how the level is counted, where it is not NNAPI's raw value.
    """

    name: Name
    type: Text | None = None
    version: Text | None = None
    feature_level: Level = None
    feature_level_encoding: Text | None = None
    supports: dict[Name, Annotated[tuple[Name, ...], Field(max_length=64)]] | None = None
    probe: NnapiProbe | None = None
    outputs: OperationOutputs | None = None


class Nnapi(_Part):
    """The NNAPI runtime and its devices; the CPU reference among them.

    `feature_level_encoding` holds for the runtime, and for the devices that do not say their own.
    """

    runtime_feature_level: Level = None
    feature_level_encoding: Text | None = None
    devices: Annotated[tuple[NnapiDevice, ...], Field(max_length=64)] = ()


class Gpu(_Part):
    """What the graphics stack calls itself."""

    renderer: Text | None = None
    gles: Text | None = None
    vulkan: Text | None = None
    opencl: Text | None = None


class Memory(_Part):
    """Whether buffers can be shared without a copy."""

    ahardwarebuffer: bool | None = None
    memory_domains: bool | None = None


class Client(_Part):
    """What the app's runtime can ask of NNAPI. None: not said, and taken for able; LiteRT's delegate is."""

    can_name_accelerator: bool | None = None
    can_exclude_cpu: bool | None = None


class ProbeFailure(_Part):
    """A probing step whose child process died or never answered."""

    step: Name
    signal: int | None = None
    timeout: bool | None = None


class Probe(_Part):
    """Who measured, and what went wrong while measuring."""

    name: Text | None = None
    version: Text | None = None
    failures: Annotated[tuple[ProbeFailure, ...], Field(max_length=256)] = ()


class CapabilityReport(_Part):
    """All of it. `runtimes` maps a vendor runtime to "loaded…", "absent", or null where the probe could not tell.

    The library that the app loads models with may stand there too, with its version: `"litert": "loaded 2.1.0"`.
    """

    schema_: Annotated[int, Field(alias="schema", ge=1)]
    device: Device
    nnapi: Nnapi | None = None
    gpu: Gpu | None = None
    runtimes: dict[Name, Text | None] = {}
    memory: Memory = Memory()
    client: Client = Client()
    probe: Probe = Probe()


def report_id(body: bytes) -> str:
    """Lowercase hexadecimal sha256 of the exact bytes."""
    return hashlib.sha256(body).hexdigest()


def parse_report(body: bytes, expected_id: str | None = None) -> CapabilityReport:
    """The report in `body`.

    Raises DigestMismatch where `expected_id` is given and is not its digest; BodyTooLarge, BodyTooDeep or
    MalformedJson where it is no bounded JSON; UnitIdentifier where it names a person or a unit; InvalidField
    for the first field of a wrong type or outside its limits.
    """
    raw = strict_json.loads(body, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    if expected_id is not None and report_id(body) != expected_id:
        raise DigestMismatch(f"the body has the digest {report_id(body)}", field="report_id")
    return report_of(raw)


def report_of(raw: Any) -> CapabilityReport:
    """The report in a JSON value; raises UnitIdentifier or InvalidField, as `parse_report` does."""
    for path, text in identifiers(raw):
        raise UnitIdentifier(f"{path} {text}; a report describes a class of devices, not one of them", field=path)
    return validated(CapabilityReport, raw)
