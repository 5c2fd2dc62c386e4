"""Run settings of an arm: options, limits and warm-up, as the decision document carries them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from policies.arm import Arm
from policies.fingerprint import Fingerprint
from policies.silicon import Accelerator
from policies.vocabulary import Delegate, Precision, Workload

MIN_TIMEOUT_MS: Final = 500
TIMEOUT_FACTOR: Final = 7
"""A run may take 5–10 × its mean before it counts as hung; the middle of that range."""
UNKNOWN_TIMEOUT_MS: Final = 5_000
COMPILE_TIMEOUT_MS: Final = 15_000
MAX_PARTITIONS: Final = 3
"""LiteRT's own default for NNAPI: the three largest partitions are delegated."""
BESIDE_OPTIONS: Final = frozenset({"warmup_runs", "max_concurrency", "workarounds"})
"""Settings of how often and how carefully an arm is run: what was compiled for it stays good."""


def run_settings(
    arm: Arm,
    fingerprint: Fingerprint,
    workload: Workload,
    expected_ms: float | None,
    stated: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """`options`, `limits`, `warmup_runs` and `workarounds` of the wire document. What is `stated` goes before its own."""
    options = _options(arm, fingerprint, workload)
    options |= {name: value for name, value in stated.items() if name not in BESIDE_OPTIONS}
    if arm.variant.shape_buckets:
        options["shape_buckets"] = [list(bucket) for bucket in arm.variant.shape_buckets]
    options["compile_cache_token"] = cache_token(arm, fingerprint, options)
    run_timeout_ms = (
        UNKNOWN_TIMEOUT_MS if expected_ms is None else max(MIN_TIMEOUT_MS, round(TIMEOUT_FACTOR * expected_ms))
    )
    return {
        "options": options,
        "limits": {
            "compile_timeout_ms": COMPILE_TIMEOUT_MS,
            "run_timeout_ms": run_timeout_ms,
            "watchdog_ms": 2 * run_timeout_ms + COMPILE_TIMEOUT_MS,
            "max_concurrency": stated.get("max_concurrency", 1),
        },
        "warmup_runs": stated.get("warmup_runs", 1 if arm.delegate is Delegate.CPU else 3),
        "workarounds": stated.get("workarounds", []),
    }


def _options(arm: Arm, fingerprint: Fingerprint, workload: Workload) -> dict[str, Any]:
    if arm.delegate is Delegate.CPU:
        return {"threads": min(4, fingerprint.cpu_cores or 2)}
    halves = arm.variant.precision in {Precision.FP16, Precision.FP32}
    options: dict[str, Any] = {"allow_fp16": halves, "allow_fp16_storage": halves}
    if arm.delegate is Delegate.NNAPI:
        sustained = workload is Workload.SUSTAINED
        options |= {
            "execution_preference": "sustained_speed" if sustained else "fast_single_answer",
            "max_partitions": MAX_PARTITIONS,
            "allow_reference_cpu": False,
            "burst": sustained,
        }
    return options


def cache_token(arm: Arm, fingerprint: Fingerprint, options: dict[str, Any]) -> str:
    """32 bytes in hexadecimal; another driver, build, file or option gives another token, and nothing else does.

    A compiled binary used across a driver update crashes or, worse, computes something else.
    """
    driver = driver_facts(arm.delegate, arm.accelerator, fingerprint)
    parts = [arm.id, arm.variant.sha256, phone_facts(fingerprint), driver, options]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def phone_facts(fingerprint: Fingerprint) -> Sequence[str | int | None]:
    """What voids everything that was compiled on a phone, where it changes: its build, and the app's own runtimes."""
    runtimes = sorted(f"{r.name} {r.version}" for r in fingerprint.runtimes if r.of_app)
    return fingerprint.manufacturer, fingerprint.model, fingerprint.api_level, fingerprint.build, *runtimes


def driver_facts(
    delegate: Delegate, accelerator: Accelerator | None, fingerprint: Fingerprint
) -> Sequence[str | int | None]:
    """What the driver behind a delegate says of its build: it voids what was compiled for it, where it changes."""
    if accelerator is not None:
        return [accelerator.raw_name, accelerator.driver_version, accelerator.level]
    if delegate is Delegate.GPU and fingerprint.gpu is not None:
        gpu = fingerprint.gpu
        return [gpu.renderer, gpu.gles, gpu.vulkan, gpu.opencl]
    return sorted(f"{r.name} {r.version}" for r in fingerprint.runtimes if r.delegate is delegate)
