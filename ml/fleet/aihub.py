"""AI Hub's measured rows as models, variants and chipsets: the ground truth of measured phones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import as_file, files
from typing import Any, Final

import pyarrow.parquet as pq

from policies.vocabulary import Format

COMPILED_FORMATS: Final = frozenset({"qnn-context", "onnx-epcontext"})
"""Compiled ahead of time: a file runs on the chip it was made for."""
DEFAULT_PARAMS: Final = 5e6
"""Where AI Hub states none. Assumed."""
MAX_ACCURACY_DROP: Final = 0.01
"""Accuracy budget. Source: at 1 % it changes the pick in 29 % of AI Hub's (chipset, model) pairs."""
TARGET_FACTOR: Final = 2.0
"""Latency target of a model: this many times its median latency over chipsets. Assumed."""
MODELS_AN_APP: Final = 12
"""Most models of one app: a decision document holds them all. Assumed."""
_BYTES: Final = {"fp32": 4.0, "int16x4": 0.5}


@dataclass(frozen=True)
class Row:
    """One measured arm: latency in milliseconds, memory in MiB, layers on the NPU and in all."""

    arm: str
    latency_ms: float
    memory_mb: float
    delegated: int
    layers: int
    compute_unit: str


@dataclass
class AiHubVariant:
    """One precision and format of a model; where it was measured and what it loses."""

    precision: str
    kind: str
    accuracy_drop: float | None = None
    chipsets: set[str] = field(default_factory=set)

    @property
    def compiled(self) -> bool:
        """Whether the file runs on one chip only."""
        return self.kind in COMPILED_FORMATS

    @property
    def bytes_per_parameter(self) -> float:
        """File bytes per weight."""
        return _BYTES.get(self.precision, 1.0)


@dataclass(frozen=True)
class AiHubModel:
    """A model component; `app` is its task, with a number where the task's models fill several apps. `rows`: chipset → arm → measurement. The accuracy budget is never below its best variant's drop."""

    name: str
    app: str
    task: str
    family: str
    params: float
    latency_target_ms: float
    max_accuracy_drop: float
    variants: Mapping[tuple[str, str], AiHubVariant]
    rows: Mapping[str, Mapping[str, Row]]

    @property
    def row_count(self) -> int:
        """Measured cells."""
        return sum(len(arms) for arms in self.rows.values())


@cache
def aihub_models() -> tuple[AiHubModel, ...]:
    """All models that a decision can be made about, the most measured first. Language models are left out."""
    with as_file(files("ml.datasets") / "aihub.parquet") as path:
        table = pq.read_table(path).to_pylist()
    formats = {kind.value for kind in Format}
    by_model: dict[str, list[dict[str, Any]]] = {}
    for row in table:
        if not row["is_llm"] and row["format"] in formats:
            by_model.setdefault(row["model"], []).append(row)
    models = [_model(name, rows) for name, rows in by_model.items()]
    return tuple(_in_apps(sorted(models, key=lambda model: (-model.row_count, model.name))))


def _in_apps(models: Iterable[AiHubModel]) -> Iterator[AiHubModel]:
    """The models in apps of a size that apps have: a task with many models fills several."""
    of_task: Counter[str] = Counter()
    for model in models:
        number = of_task[model.task] // MODELS_AN_APP
        of_task[model.task] += 1
        yield replace(model, app=f"{model.task}-{number + 1}" if number else model.task)


def _model(name: str, rows: list[dict[str, Any]]) -> AiHubModel:
    reference = _float_drops(rows)
    variants: dict[tuple[str, str], AiHubVariant] = {}
    cells: dict[str, dict[str, Row]] = {}
    for row in sorted(rows, key=lambda row: float(row["latency_ms"]), reverse=True):
        key = (row["precision"], row["format"])
        variant = variants.setdefault(key, AiHubVariant(*key, accuracy_drop=_drop(row, reference)))
        variant.chipsets.add(row["chipset"])
        cells.setdefault(row["chipset"], {})[row["arm"]] = _row(row)  # of two jobs the faster one stays
    first = rows[0]
    drops = [variant.accuracy_drop for variant in variants.values()]
    return AiHubModel(
        name=name.replace("/", "."),
        app=_app(first["task"]),
        task=_app(first["task"]),
        family=first["family"],
        params=first["params"] or DEFAULT_PARAMS,
        latency_target_ms=round(TARGET_FACTOR * _median(row["latency_ms"] for row in rows), 3),
        max_accuracy_drop=max(MAX_ACCURACY_DROP, min(drop or 0.0 for drop in drops)),
        variants=variants,
        rows=cells,
    )


def _row(row: Mapping[str, Any]) -> Row:
    return Row(
        row["arm"],
        float(row["latency_ms"]),
        float(row["memory_mb"] or 1.0),
        int(row["delegated"] or 0),
        int(row["layers"] or 0),
        row["compute_unit"] or "NPU",
    )


def _float_drops(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Format → accuracy that the float variant itself loses: the reference of the others."""
    return {
        row["format"]: row["accuracy_drop"]
        for row in rows
        if row["precision"] == "fp32" and row["accuracy_drop"] is not None
    }


def _drop(row: Mapping[str, Any], reference: Mapping[str, float]) -> float | None:
    drop = row["accuracy_drop"]
    if drop is None:
        return None
    own = reference.get(row["format"], min(reference.values(), default=0.0))
    return min(1.0, max(-1.0, round(float(drop) - own, 5)))


def _app(task: str) -> str:
    return task.lower().replace(" ", "-")


def _median(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return float(ordered[len(ordered) // 2])
