"""Valid objects for tests; a test names only what matters to it."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from datetime import time as dt_time
from typing import Any

from policies.document import PolicyDocument, parse_document
from policies.fingerprint import Fingerprint, fingerprint
from policies.graph import ModelGraph, Node
from policies.model import ModelSpec
from policies.report import parse_report, report_id
from policies.screen import GAMMA, bucket_of
from policies.silicon import Accelerator

MIB = 1024 * 1024

EDGETPU: Mapping[str, Any] = {
    "name": "google-edgetpu",
    "type": "accelerator",
    "version": "2.0",
    "feature_level": 1_000_007,
    "supports": {"CONV_2D": ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_FLOAT32"]},
}
REFERENCE: Mapping[str, Any] = {"name": "nnapi-reference", "type": "cpu", "feature_level": 1_000_008}
BUILD = "google/stallion/stallion:16/BP4A.1/1:user/release-keys"


def report_with(**changes: Any) -> dict[str, Any]:
    """A report as a value. `device=…` changes single fields of the device; any other key replaces its part."""
    device = {
        "manufacturer": "Google",
        "brand": "google",
        "model": "Pixel 10a",
        "product": "stallion",
        "soc_manufacturer": "Google",
        "soc_model": "Tensor G4",
        "api_level": 36,
        "build_fingerprint": BUILD,
        "abis": ["arm64-v8a"],
        "ram_mb": 7936,
        "cpu": {"cores": 8, "features": ["fp16", "dotprod"]},
    }
    report = {
        "schema": 1,
        "nnapi": nnapi(EDGETPU, REFERENCE),
        "gpu": {"renderer": "Mali-G715", "gles": "3.2", "vulkan": "1.3", "opencl": "3.0"},
        "runtimes": {"qnn": "absent", "edgetpu": None},
        "memory": {"ahardwarebuffer": True, "memory_domains": True},
        "probe": {"name": "nnfleet-probe", "version": "1.0.0", "failures": []},
    }
    return report | changes | {"device": device | changes.get("device", {})}


def make_report(**changes: Any) -> bytes:
    """The bytes of `report_with`."""
    return json.dumps(report_with(**changes)).encode()


def nnapi(*devices: Mapping[str, Any], level: Any = 1_000_008) -> dict[str, Any]:
    """The NNAPI part of a report."""
    return {"runtime_feature_level": level, "devices": [dict(device) for device in devices]}


def make_fingerprint(**changes: Any) -> Fingerprint:
    """The fingerprint of a report with these changes."""
    return fingerprint(parse_report(make_report(**changes)))


def make_accelerator(**changes: Any) -> Accelerator:
    """An NNAPI driver that takes INT8 convolutions and nothing else."""
    facts: dict[str, Any] = {
        "name": "google-edgetpu",
        "raw_name": "google-edgetpu",
        "kind": "npu",
        "driver_version": "2.0",
        "level": 7,
        "int8": True,
        "fp16": False,
        "supports": {"CONV_2D": ("TENSOR_QUANT8_ASYMM_SIGNED",)},
    }
    return Accelerator(**(facts | changes))


def chain(*ops: str, activation: str = "int8") -> ModelGraph:
    """A graph of operations that each read the one before."""
    nodes = tuple(Node(op, activation, (i,), (i + 1,)) for i, op in enumerate(ops))
    return ModelGraph(nodes, (0,), (len(ops),), frozenset())


def make_variant(precision: str = "int8", file_format: str = "tflite", **changes: Any) -> dict[str, Any]:
    """A variant as an operator registers it."""
    variant_id = changes.get("id", f"seg-{precision}-{file_format}")
    digest = uuid.uuid5(uuid.NAMESPACE_URL, variant_id).hex * 2
    fields = {"id": variant_id, "precision": precision, "format": file_format, "sha256": digest, "size_bytes": 1000}
    return fields | changes


def make_model_json(**changes: Any) -> dict[str, Any]:
    """A model as an operator registers it: INT8 and FP32 files whose convolutions every driver here takes."""
    fields = {
        "app": "camera",
        "name": "segmentation",
        "task": "image-segmentation",
        "family": "mobilenet",
        "latency_target_ms": 30.0,
        "variants": [
            make_variant("int8", graph=chain(*["CONV_2D"] * 4).to_json()),
            make_variant("fp32", graph=chain(*["CONV_2D"] * 4, activation="float32").to_json()),
        ],
    }
    return fields | changes


def make_model(**changes: Any) -> ModelSpec:
    """The model of `make_model_json`."""
    return ModelSpec.model_validate(make_model_json(**changes))


def make_document(**changes: Any) -> PolicyDocument:
    """A policy document; `deny(…)` makes its denies."""
    return parse_document({"schema": 1, "app": "camera"} | changes)


def deny(name: str, *arms: str, **changes: Any) -> dict[str, Any]:
    """A deny as an operator states it."""
    return {"id": name, "arms": list(arms), "reason": "seen to fail"} | changes


def uuid7(day: date | None = None) -> uuid.UUID:
    """A record id as clients make it, of a moment of that day: today's without one."""
    moment = time.time() if day is None else datetime.combine(day, dt_time(12), UTC).timestamp()
    number = int(moment * 1000) << 80 | uuid.uuid4().int & (1 << 80) - 1
    return uuid.UUID(int=number & ~(0xF << 76) | 0x7 << 76)


def make_histogram(latencies_us: Sequence[int]) -> dict[str, Any]:
    """The latency part of a window."""
    counts = Counter(str(bucket_of(latency)) for latency in latencies_us)
    return {
        "min": min(latencies_us),
        "max": max(latencies_us),
        "sum": sum(latencies_us),
        "histogram": {"gamma": GAMMA, "counts": dict(counts)},
    }


def make_observation(latencies_us: Sequence[int] = (4100, 4150, 4300), **changes: Any) -> dict[str, Any]:
    """One window of runs, under an id of its own; `runs=…` changes single fields of the runs."""
    runs = {"count": len(latencies_us), "errors": {}, "timeouts": 0, "fallbacks": 0}
    runs |= {"latency_us": make_histogram(latencies_us)} if latencies_us else {}
    observation = {
        "record_id": str(uuid7()),
        "report_id": report_id(make_report()),
        "app": "camera",
        "release": 0,
        "model": "segmentation",
        "plan": "main",
        "arm": "int8.tflite.nnapi.google-edgetpu",
        "propensity": 0.98,
        "workload": "burst",
        "kind": "window",
        "requested": {"delegate": "nnapi", "accelerator": "google-edgetpu"},
        "executed": {"by": "nnapi:google-edgetpu", "delegated_nodes": 4, "total_nodes": 4, "partitions": 1},
        "init": {"load_us": 900, "compile_us": 45_100, "cache_hit": False, "first_run_us": 6100},
        "conditions": {"before": {"thermal_status": 0, "battery_c": 31.5}, "after": {"thermal_status": 0}},
        "golden": {"checks": 2, "passed": 2, "max_rel_error": 0.004},
        "memory_peak_kb": 61_000,
        "device_time": "2026-05-01T10:00:00Z",
        "monotonic_ms": 8_123_456,
        "sdk": "python/1.0.0",
        "app_version": "5.2.1",
    }
    return observation | changes | {"runs": runs | changes.get("runs", {})}


def make_attempt(**changes: Any) -> dict[str, Any]:
    """The mark of a start, which a window may follow."""
    kept = ("record_id", "report_id", "app", "release", "model", "arm", "propensity", "workload")
    observation = make_observation()
    return {name: observation[name] for name in kept} | {"kind": "attempt"} | changes
