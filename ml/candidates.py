"""Which cells to rank: every arm that a driver stack can run of the models its phones use, with what is known of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

from ml.limits import CellFacts
from ml.rollup import Cell, CellSummary
from ml.startup import startup_ms
from ml.table import Index, Numbers, Table
from policies.arm import Arm, executable_arms
from policies.arm_coverage import arm_coverage
from policies.fingerprint import Fingerprint
from policies.model import ModelSpec


@dataclass(frozen=True)
class Problem:
    """What `ml.recommend.recommend` is asked: observations with their reports, candidates with their facts."""

    observations: Table
    reports: Index
    candidates: Table
    facts: CellFacts


@dataclass(frozen=True, slots=True)
class _Candidate:
    stack: Fingerprint
    model: ModelSpec
    arm: Arm

    @property
    def cell(self) -> Cell:
        return Cell(self.stack.driver_stack, self.model.app, self.model.name, self.arm.id)


def model_label(app: str, model: str) -> str:
    """How the learner's tables name a model of an app. Neither name may hold the slash."""
    return f"{app}/{model}"


def app_and_model(label: str) -> tuple[str, str]:
    """What `model_label` was made from."""
    app, _, model = label.partition("/")
    return app, model


def problem(
    stacks: Mapping[str, Fingerprint], models: Sequence[ModelSpec], cells: Mapping[Cell, CellSummary]
) -> Problem:
    """The learning problem of a fleet.

    `stacks`: driver stack → one fingerprint of it; `cells`: what was measured, by driver stack. A model is ranked on
    the stacks whose phones have used its app: a table of everything would mostly hold what nobody asks for.
    """
    used = {(cell.group, cell.app) for cell in cells}
    by_app: defaultdict[str, list[ModelSpec]] = defaultdict(list)
    for model in models:
        by_app[model.app].append(model)
    candidates = [
        _Candidate(stacks[stack], model, arm)
        for stack, app in sorted(used)
        if stack in stacks
        for model in by_app[app]
        for arm in executable_arms(stacks[stack], model)
    ]
    known = {candidate.cell: candidate for candidate in candidates}
    measured = [(known[cell], summary) for cell, summary in sorted(cells.items()) if summary.measured and cell in known]
    return Problem(
        _table([c for c, _ in measured], [exp(s.log_p50_us) / 1e3 for _, s in measured]),
        np.array([s.measured for _, s in measured], dtype=np.intp),
        _table(candidates),
        _facts(candidates, cells),
    )


def _table(candidates: Sequence[_Candidate], latency_ms: Sequence[float] | None = None) -> Table:
    columns: dict[str, Sequence[Any]] = {
        "chipset": [c.stack.driver_stack for c in candidates],
        "model": [model_label(c.model.app, c.model.name) for c in candidates],
        "arm": [c.arm.id for c in candidates],
        "family": [c.model.family for c in candidates],
        "task": [c.model.task for c in candidates],
        "params": [c.model.params or np.nan for c in candidates],
        "layers": [_layers(c.arm) for c in candidates],
        "coverage": [_coverage(c.arm) for c in candidates],
        "chip_vendor": [c.stack.soc_vendor or "" for c in candidates],
        "chip_soc": [c.stack.soc or "" for c in candidates],
    }
    for hint in ("year", "tier", "npu_version", "npu_fp16"):
        columns[f"chip_{hint}"] = [c.stack.hints.get(hint, np.nan) for c in candidates]
    if latency_ms is not None:
        columns["latency_ms"] = latency_ms
    return Table.of(columns)


def _layers(arm: Arm) -> float:
    graph = arm.variant.model_graph
    return np.nan if graph is None else len(graph.nodes)


def _coverage(arm: Arm) -> float:
    share = arm_coverage(arm).share
    return np.nan if share is None else share


def _facts(candidates: Sequence[_Candidate], cells: Mapping[Cell, CellSummary]) -> CellFacts:
    pooled = _pooled(cells)
    golden = [_golden(c.cell, cells, pooled) for c in candidates]
    starts = [cells.get(c.cell) for c in candidates]
    drops = [c.arm.variant.accuracy_drop for c in candidates]
    columns: dict[str, Sequence[float] | Numbers] = {
        "accuracy_drop": [np.nan if drop is None else drop for drop in drops],
        "max_accuracy_drop": [c.model.max_accuracy_drop for c in candidates],
        "golden_checks": [checked for checked, _ in golden],
        "golden_failures": [failed for _, failed in golden],
        "non_finite": [s.non_finite if s else 0 for s in starts],
        "checked": [s.golden_checked if s else 0 for s in starts],
        "unbelieved": [s.too_good if s and not s.measured else 0 for s in starts],
        "runs": [s.starts if s else 0 for s in starts],
        "errors": [s.failures if s else 0 for s in starts],
        "delegated_share": [_coverage(c.arm) for c in candidates],
        "cuts": [arm_coverage(c.arm).cuts for c in candidates],
        "target_ms": [c.model.latency_target_ms for c in candidates],
        "memory_mb": [_memory_mb(s) for s in starts],
        "max_memory_mb": [np.nan if c.model.max_memory_mb is None else c.model.max_memory_mb for c in candidates],
        "startup_ms": startup_ms([c.cell for c in candidates], cells),
    }
    return CellFacts({name: np.asarray(column, dtype=np.float64) for name, column in columns.items()})


def _memory_mb(summary: CellSummary | None) -> float:
    """Peak memory of a usual window in MiB, NaN where no window told."""
    return np.nan if summary is None or summary.log_memory_kb is None else exp(summary.log_memory_kb) / 1024


def _pooled(cells: Mapping[Cell, CellSummary]) -> dict[tuple[str, str], tuple[int, int]]:
    """(driver stack, arm) → golden checks and failures over all models."""
    pooled: defaultdict[tuple[str, str], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for cell, summary in cells.items():
        checked, failed = pooled[cell.group, cell.arm]
        pooled[cell.group, cell.arm] = checked + summary.golden_checked, failed + summary.golden_failed
    return dict(pooled)


def _golden(
    cell: Cell, cells: Mapping[Cell, CellSummary], pooled: Mapping[tuple[str, str], tuple[int, int]]
) -> tuple[int, int]:
    """Golden checks of the cell itself; where it has none, those of the same arm with other models on the stack."""
    own = cells.get(cell)
    if own is not None and own.golden_checked:
        return own.golden_checked, own.golden_failed
    return pooled.get((cell.group, cell.arm), (0, 0))
