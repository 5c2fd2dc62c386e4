"""Qualcomm AI Hub's published latencies as a tidy Parquet file: `python -m ml.datasets.aihub --wheel FILE --out FILE`.

The wheel is PyPI's `qai-hub-models` (BSD-3-Clause, © Qualcomm Technologies, Inc.), fetched with
`pip download --no-deps` and read as a ZIP file, never installed. One row is one profiling job. About a quarter of the
published rows repeat a job under the name of another device ("similar devices"): a job is kept once, under the
device that is no stand-in, with the chipset that ran it. Only passed jobs are published.

Columns
    chipset           chipset that ran the job; `device`, `os`, `world` (Mobile, IoT, Compute, Automotive, XR)
    model             `model_id`, or `model_id/component` where the model has several components
    family            first word of the model id (all `yolo…` are one family); `task` the use case
    params            parameters of the whole model, all components (null where not stated)
    arm               `{precision}.{format}.{delegate}`, with its parts in `precision`, `format`, `delegate`
    latency_ms        mean inference time of the job, milliseconds
    memory_mb         peak memory, upper end of the range, MiB as published
    delegated, layers layers on the NPU, layers in all; `coverage` = delegated ÷ layers
    compute_unit      where most layers ran: NPU, GPU or CPU
    accuracy_drop     share of the float PyTorch metric lost on the one device where it was measured, for this
                      model, precision and runtime (negative: gained; null: not measured)
    is_llm            language models and others with token metrics
    chip_npu          Hexagon generation; `chip_fp16` 1 where the NPU computes FP16 (releases before 0.56 state
                      neither); `chip_year`, `chip_tier` from `aihub_chips`; `chip_world` as `world`
The file's schema metadata carries `source`, `version`, `licence`, `rows_published` and `rows_copied`.
"""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from ml.datasets import aihub_jobs
from ml.datasets.aihub_chips import CHIP_FACTS

SCHEMA: Final = pa.schema(
    [(name, pa.string()) for name in ("chipset", "device", "os", "world", "model", "family", "task")]
    + [("params", pa.float64())]
    + [(name, pa.string()) for name in ("arm", "precision", "format", "delegate")]
    + [("latency_ms", pa.float64()), ("memory_mb", pa.float32()), ("delegated", pa.int32()), ("layers", pa.int32())]
    + [
        ("coverage", pa.float32()),
        ("compute_unit", pa.string()),
        ("accuracy_drop", pa.float32()),
        ("is_llm", pa.bool_()),
    ]
    + [
        ("chip_npu", pa.float32()),
        ("chip_fp16", pa.float32()),
        ("chip_year", pa.float32()),
        ("chip_tier", pa.float32()),
    ]
    + [("chip_world", pa.string())]
)

_MODEL_FILE = re.compile(r"qai_hub_models/models/(?P<model>[^/]+)/(?P<file>perf|manifest|info|numerics)\.yaml")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's is ten times faster, and some builds lack it


class WheelLayoutError(ValueError):
    """The file is no `qai-hub-models` wheel, or one whose layout this reader does not know."""


@dataclass(frozen=True)
class Device:
    """A device of the wheel. `stand_in` marks one that repeats another's numbers; `chipset` is the one that ran."""

    name: str
    chipset: str
    os: str
    stand_in: bool

    @property
    def rank(self) -> tuple[bool, bool, str]:
        """Order in which devices are believed to have run a job that several of them name."""
        return self.stand_in, self.name.endswith("(Proxy)"), self.name


@dataclass(frozen=True)
class Wheel:
    """What the wheel says apart from measurements: devices and chipsets by name, YAML files by model id."""

    archive: zipfile.ZipFile
    version: str
    devices: Mapping[str, Device]
    chipsets: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, Mapping[str, str]]

    def yaml(self, model_id: str, *names: str) -> dict[str, Any]:
        """The first of the named YAML files that the model has, {} where it has none."""
        for name in names:
            if name in self.files[model_id]:
                return _yaml(self.archive, self.files[model_id][name])
        return {}


def open_wheel(path: Path) -> Wheel:
    """Open a `qai-hub-models` wheel; raises WheelLayoutError where it is not one."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise WheelLayoutError(f"{path} is not a wheel (a ZIP file)") from error
    devices: dict[str, Any] = {}
    chipsets: dict[str, Any] = {}
    names = set(archive.namelist())
    for name in ("devices_and_chipsets.yaml", "similar_devices.yaml"):  # the second since 0.6x: stand-ins only
        member = f"qai_hub_models/{name}"
        if member in names:
            content = _yaml(archive, member)
            devices |= content.get("devices", {})
            chipsets |= content.get("chipsets", {})
    files: dict[str, dict[str, str]] = {}
    for name in sorted(names):
        if match := _MODEL_FILE.fullmatch(name):
            files.setdefault(match["model"], {})[match["file"]] = name
    measured = {model: found for model, found in files.items() if "perf" in found}
    if not devices or not measured:
        raise WheelLayoutError(f"{path} holds no devices_and_chipsets.yaml or no models/*/perf.yaml")
    version = Path(path).name.split("-")[1] if path.name.startswith("qai_hub_models-") else "unknown"
    return Wheel(archive, version, _devices(devices), chipsets, measured)


def rows(wheel: Wheel) -> Iterator[dict[str, Any]]:
    """Rows of the tidy table, model by model, copies dropped. Raises WheelLayoutError on an unknown layout."""
    for model_id in sorted(wheel.files):
        try:
            yield from _model_rows(wheel, model_id)
        except (KeyError, TypeError, AttributeError) as error:
            raise WheelLayoutError(f"models/{model_id}: unknown layout ({error!r})") from error


def write(wheel_path: Path, out: Path) -> int:
    """Write the tidy Parquet file and return its number of rows."""
    wheel = open_wheel(wheel_path)
    published = 0
    kept: list[dict[str, Any]] = []
    for row in rows(wheel):
        published += row.pop("published")
        kept.append(row)
    facts = {
        "source": "PyPI qai-hub-models, perf.yaml, manifest.yaml, numerics.yaml",
        "version": wheel.version,
        "licence": "BSD-3-Clause, © Qualcomm Technologies, Inc. and/or its subsidiaries",
        "rows_published": str(published),
        "rows_copied": str(published - len(kept)),
    }
    kept.sort(key=lambda row: (row["model"], row["arm"], row["chipset"], row["device"]))
    table = pa.Table.from_pylist(kept, schema=SCHEMA.with_metadata(facts))
    pq.write_table(table, out, compression="zstd", compression_level=19)
    return len(kept)


def _devices(raw: Mapping[str, Any]) -> dict[str, Device]:
    return {
        name: Device(
            name,
            device.get("reference_chipset") or device["chipset"],
            device.get("os", {}).get("ostype", ""),
            "reference_chipset" in device,
        )
        for name, device in raw.items()
    }


def _model_rows(wheel: Wheel, model_id: str) -> Iterator[dict[str, Any]]:
    about = wheel.yaml(model_id, "manifest", "info")
    drops = _accuracy_drops(wheel.yaml(model_id, "numerics").get("metrics", []))
    measured = list(aihub_jobs.components(wheel.yaml(model_id, "perf")))
    several = len({component for _, component, _ in measured}) > 1
    constant = {
        "family": _family(model_id),
        "task": about.get("use_case", ""),
        "params": _params(about.get("technical_details") or {}),
        "is_llm": bool(about.get("model_type_llm")),
    }
    for precision, component, by_device in measured:
        model = f"{model_id}/{component}" if several else model_id
        for (runtime, _job), jobs in _jobs(by_device).items():
            device = min((wheel.devices[name] for name in jobs), key=lambda device: device.rank)
            yield {
                "model": model,
                **constant,
                **_arm(precision, runtime),
                **_chip(wheel, device),
                **_measurement(jobs[device.name]),
                "accuracy_drop": drops.get((precision, runtime)),
                "published": len(jobs),
            }


def _jobs(by_device: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], dict[str, Mapping[str, Any]]]:
    """Timed jobs by (runtime, job id): the devices that name each."""
    found: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for device, runtime, job in aihub_jobs.timed(by_device):
        found.setdefault((runtime, job["job_id"]), {})[device] = job
    return found


def _arm(precision: str, runtime: str) -> dict[str, str]:
    ours, kind = aihub_jobs.precision_of(precision), aihub_jobs.format_of(runtime)
    return {"arm": f"{ours}.{kind}.qnn", "precision": ours, "format": kind, "delegate": "qnn"}


def _chip(wheel: Wheel, device: Device) -> dict[str, Any]:
    chip = wheel.chipsets.get(device.chipset, {})
    facts = CHIP_FACTS.get(device.chipset)
    world = chip.get("world", "")
    return {
        "chipset": device.chipset,
        "device": device.name,
        "os": device.os,
        "world": world,
        "chip_npu": chip.get("htp_version"),
        # Releases that name no Hexagon generation name no FP16 support either: there, absence says nothing.
        "chip_fp16": float(bool(chip.get("supports_fp16"))) if "htp_version" in chip else None,
        "chip_year": facts and facts.year,
        "chip_tier": facts and facts.tier,
        "chip_world": world,
    }


def _measurement(job: Mapping[str, Any]) -> dict[str, Any]:
    delegated, _, total = aihub_jobs.layers(job)
    return {
        "latency_ms": float(job["inference_time_milliseconds"]),
        "memory_mb": aihub_jobs.peak_memory_mb(job),
        "delegated": delegated,
        "layers": total,
        "coverage": delegated / total if total else None,
        "compute_unit": job.get("primary_compute_unit"),
    }


def _accuracy_drops(metrics: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
    """Relative loss against the float PyTorch metric by (precision, runtime); the worst of several metrics."""
    drops: dict[tuple[str, str], float] = {}
    for metric in metrics:
        reference = metric.get("partial_torch_metric")
        sign = 1 if metric.get("higher_is_better", True) else -1
        for key, value in _device_metrics(metric.get("device_metric") or {}):
            if reference and value is not None:
                drops[key] = max(drops.get(key, float("-inf")), sign * (reference - value) / abs(reference))
    return drops


def _device_metrics(by_device: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], float | None]]:
    for by_precision in by_device.values():
        for precision, by_runtime in by_precision.items():
            for runtime, found in by_runtime.items():
                yield (precision, runtime), found.get("partial_metric")


def _family(model_id: str) -> str:
    word = re.match(r"[a-z]*", model_id)
    first = word[0] if word and word[0] else model_id
    return "yolo" if first.startswith("yolo") else first


_UNITS: Final = MappingProxyType({"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9})


def _params(details: Mapping[str, Any]) -> float | None:
    """Sum of every "Number of parameters…" entry, as in `3.49M`, `~600M`, `2B (effective)`."""
    found = [
        re.match(r"~?([\d.]+)\s*([KMB]?)", str(value))
        for name, value in details.items()
        if "number of parameters" in name.lower()
    ]
    sizes = [float(match[1]) * _UNITS[match[2]] for match in found if match]
    return sum(sizes) if sizes else None


def _yaml(archive: zipfile.ZipFile, member: str) -> dict[str, Any]:
    content = yaml.load(archive.read(member), _LOADER)  # noqa: S506 - both are safe loaders
    if not isinstance(content, dict):
        raise WheelLayoutError(f"{member} holds no mapping")
    return content


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m ml.datasets.aihub", description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, required=True, help="qai_hub_models-*.whl from `pip download --no-deps`")
    parser.add_argument("--out", type=Path, required=True, help="Parquet file to write")
    options = parser.parse_args(arguments)
    try:
        count = write(options.wheel, options.out)
    except (OSError, WheelLayoutError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(f"{count} rows → {options.out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
