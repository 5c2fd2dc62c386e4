"""AI Hub's `perf.yaml`: precisions, components, devices and runtimes → profiling jobs. Shared by the wheel's reader and the importer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

PRECISION_OF: Final = MappingProxyType(
    {
        "float": "fp32",
        "w8a8": "int8",
        "w8a16": "int16x8",
        "w4a16": "int16x4",
        "mixed": "mixed",
        "w8a8_mixed_int16": "mixed-int16",
        "w8a16_mixed_int16": "int16x8-mixed",
        "mixed_with_float": "mixed-float",
        "w8a16_mixed_fp16": "int16x8-mixed-float",
    }
)
FORMAT_OF: Final = MappingProxyType(
    {
        "tflite": "tflite",
        "onnx": "onnx",
        "qnn_dlc": "dlc",
        "qnn_context_binary": "qnn-context",
        "precompiled_qnn_onnx": "onnx-epcontext",
    }
)
"""Formats a decision chooses among. Other runtimes (language, voice) keep their own name with `-` for `_`."""


def precision_of(word: str) -> str:
    """Our word for one of AI Hub's precisions; one that is new keeps its own."""
    return PRECISION_OF.get(word, word.replace("_", "-"))


def format_of(runtime: str) -> str:
    """Our word for the file that one of AI Hub's runtimes loads; one that is new keeps its own."""
    return FORMAT_OF.get(runtime, runtime.replace("_", "-"))


def timed(by_device: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(device, runtime, job) of jobs that passed and were timed. Token metrics without a latency are no jobs."""
    for device, by_runtime in by_device.items():
        for runtime, job in by_runtime.items():
            if job.get("job_status") == "Passed" and job.get("inference_time_milliseconds"):
                yield device, runtime, job


def components(perf: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Mapping[str, Any]]]]:
    """(precision, component, jobs by device and runtime) of a file's content, as it is written there."""
    for precision, content in perf["precisions"].items():
        for component, measured in content["components"].items():
            yield precision, component, measured.get("performance_metrics") or {}


def layers(job: Mapping[str, Any]) -> tuple[int, int, int]:
    """Layers on the NPU, layers on the GPU, and all; 0 where they were not counted."""
    counts = job.get("layer_counts") or {}
    return counts.get("npu") or 0, counts.get("gpu") or 0, counts.get("total") or 0


def peak_memory_mb(job: Mapping[str, Any]) -> float | None:
    """Peak memory, the upper end of its range, in MiB as published."""
    peak: float | None = (job.get("estimated_peak_memory_range_mb") or {}).get("max")
    return peak
