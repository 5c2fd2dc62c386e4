"""Qualcomm AI Hub's `perf.yaml` of one model: the jobs of one of its devices, on whichever precisions and runtimes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from ml.datasets import aihub_jobs
from ml.datasets.lab.measurement import Claim, LabFileError, LabMeasurement, Source
from policies.nearest import did_you_mean, nearest

US_A_MS: Final = 1_000
KB_A_MIB: Final = 1_024
_TOP: Final = re.compile(r"^precisions:", re.MULTILINE)


def is_perf(text: str) -> bool:
    """Whether a text has the top of such a file."""
    return _TOP.search(text) is not None and "performance_metrics" in text


def read(file: str, text: str, device: str | None) -> list[LabMeasurement]:
    """The jobs of `device`. Raises LabFileError where the file is none, names no such device, or has several components.

    A device that is not named is an error that lists those there are: a file holds dozens. Components are models of their
    own, and a file does not say which of them is the app's.
    """
    found = list(_jobs(file, _content(file, text)))
    names = sorted({name for name, _ in found})
    if device not in names:
        close = did_you_mean(nearest(device, names)) if device else ""
        raise LabFileError(file, f"say which device is meant{close}; there is {', '.join(names) or 'none'}")
    return [measurement for name, measurement in found if name == device]


def _content(file: str, text: str) -> Mapping[str, Any]:
    try:
        content = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 -- both are safe loaders
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise LabFileError(file, f"no YAML: {error.problem}", mark.line + 1 if mark else None) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise LabFileError(file, f"no YAML: {error}") from error
    if not isinstance(content, dict):
        raise LabFileError(file, "holds no mapping")
    return content


def _jobs(file: str, content: Mapping[str, Any]) -> Iterator[tuple[str, LabMeasurement]]:
    try:
        parts = list(aihub_jobs.components(content))
        if len(several := sorted({component for _, component, _ in parts})) > 1:
            raise LabFileError(file, f"a model of several components ({', '.join(several)})")
        for precision, component, by_device in parts:
            for device, runtime, job in aihub_jobs.timed(by_device):
                yield device, _measurement(precision, component, device, runtime, job)
    except (KeyError, TypeError, AttributeError) as error:
        raise LabFileError(file, f"unknown layout ({error!r})") from error


def _measurement(precision: str, component: str, device: str, runtime: str, job: Mapping[str, Any]) -> LabMeasurement:
    peak_mb = aihub_jobs.peak_memory_mb(job)
    return LabMeasurement(
        Source.AIHUB_PERF,
        place=f"{precision}, {component}, {device}, {runtime}",
        latency_us=float(job["inference_time_milliseconds"]) * US_A_MS,
        memory_peak_kb=None if peak_mb is None else round(peak_mb * KB_A_MIB),
        asked_delegate="qnn",
        claims=_claims(job),
        precision=aihub_jobs.precision_of(precision),
        format=aihub_jobs.format_of(runtime),
    )


_UNITS: Final[Mapping[str | None, tuple[Claim, ...]]] = {"NPU": (Claim("qnn"),), "GPU": (Claim("gpu"),), "CPU": ()}


def _claims(job: Mapping[str, Any]) -> tuple[Claim, ...]:
    """Layers that neither the NPU nor the GPU took ran on the CPU; where they were not counted, the unit of most counts."""
    npu, gpu, total = aihub_jobs.layers(job)
    if total:
        return Claim("qnn", npu, total), Claim("gpu", gpu, total)
    return _UNITS.get(job.get("primary_compute_unit"), (Claim("unstated"),))
