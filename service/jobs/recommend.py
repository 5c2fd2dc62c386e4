"""Observations → rankings: one learning run, stored with its figures and findings; the next release carries it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine
from sqlmodel import Session
from threadpoolctl import threadpool_limits

from ml.candidates import app_and_model, problem
from ml.explore import Budget, Split, Splits, explore
from ml.findings import Finding, devices_of, find
from ml.findings.lab import Soak, soaks
from ml.findings.operation import operations_of
from ml.findings.severity import with_severity
from ml.lab_cells import filled
from ml.limits import Limits
from ml.memory import Memory
from ml.pooling import pooled
from ml.rankings import Ranking as Learned
from ml.rankings import Rankings
from ml.recommend import recommend
from ml.rollup import Rollup, regrouped
from ml.sustained import explored, heats, told_of
from ml.thresholds import partial_pairs, thresholds
from policies.fingerprint import Fingerprint
from policies.knowledge import ArmShare, RankedArm, Ranking
from policies.vocabulary import Workload
from service.jobs.breaches import breaches
from service.jobs.gate import gate
from service.jobs.lab import lab_cells
from service.jobs.rollup import roll_up, rollups
from service.jobs.run import figures_of
from service.releasing.release_content import pack_rankings
from service.releasing.revisions import recommend as put_up_for_review
from service.store import findings as stored
from service.store import models, reports

KEPT_ARMS = 12
"""Arms that a release carries of a ranking: more than any ladder has rungs."""


@dataclass(frozen=True)
class LearningRun:
    """What a run came to. `soaks`: what a lab should measure, for phones will not."""

    recommendation: int
    rankings: int
    findings: tuple[Finding, ...]
    soaks: tuple[Soak, ...]
    figures: dict[str, Any]


def learn(
    engine: Engine, now: datetime, crashed_before: datetime, budget: Budget, limits: Limits | None = None,
    split: Callable[[Rankings, Budget], Splits] = explore, memory: Memory | None = None,
) -> LearningRun:  # fmt: skip
    """Roll up, rank, look for faults, and store all three. `crashed_before`: see `service.store.rollups.roll`.

    `split` shares traffic out among the arms of each ranking. `memory`: what the run before left, and this one leaves.
    """
    memory = memory or Memory()
    started = time.perf_counter()
    by_class, fingerprints = _read(engine, now, crashed_before)
    with Session(engine) as session:
        specs = models.all_models(session)
        lab_stacks, lab_measured = lab_cells(session)
    stack_of = {f.device_class: f.driver_stack for f in fingerprints}
    stacks = lab_stacks | {f.driver_stack: f for f in fingerprints}
    by_stack = regrouped(by_class, stack_of)
    measured = pooled(by_class, stack_of)
    asked = problem(stacks, specs, filled(measured, lab_measured))
    # One thread: matrices are small, and threads that wait for each other beside a busy server cost more than they bring.
    with threadpool_limits(1, "blas"):
        ranked = recommend(
            asked.observations, asked.candidates, reports=asked.reports, facts=asked.facts, limits=limits,
            memory=memory,
        )  # fmt: skip
    soc_of = {stack: f.soc or "unknown" for stack, f in stacks.items()}
    splits = split(ranked, budget)
    hot = explored(splits, soc_of, heats(by_stack, soc_of), told_of(by_stack), budget, split)
    packed = _packed({Workload.BURST: splits, Workload.SUSTAINED: hot})
    findings = _findings(engine, by_class, fingerprints, now)
    asked_of_lab = tuple(soaks(findings, by_stack, soc_of))
    pairs = partial_pairs(by_stack, soc_of, {(spec.app, spec.name): spec.latency_target_ms for spec in specs})
    gated = gate(engine, splits, stack_of, measured.values())
    figures: dict[str, Any] = {
        "cells_measured": len(asked.observations),
        "cells_from_labs": len(
            {cell for cell, _ in lab_measured if cell not in measured or not measured[cell].measured}
        ),
        "cells_ranked": len(asked.candidates),
        "rankings": len(ranked),
        "variances": memory.to_json(),
        "stacks": len(stacks),
        "seconds": round(time.perf_counter() - started, 2),
        "findings": [finding.to_json() for finding in findings],
        "soaks": [soak.to_json() for soak in asked_of_lab],
        "thresholds": {name: found.to_json() for name, found in thresholds(pairs).items()},
        "gate": gated.to_json(),
    }
    with Session(engine) as session, session.begin():
        recommendation = put_up_for_review(session, pack_rankings(packed), figures, now, gated.reasons)
        stored.note(session, figures["findings"], now, recommendation)
    return LearningRun(recommendation, len(ranked), findings, asked_of_lab, figures)


def look(engine: Engine, now: datetime, crashed_before: datetime) -> tuple[Finding, ...]:
    """Findings of everything stored so far, noted, without ranking anything."""
    found = _findings(engine, *_read(engine, now, crashed_before), now)
    with Session(engine) as session, session.begin():
        stored.note(session, [finding.to_json() for finding in found], now)
    return found


def _read(engine: Engine, now: datetime, crashed_before: datetime) -> tuple[list[Rollup], list[Fingerprint]]:
    """Rollups by device class, brought up to date, and the classes that may be learned from."""
    figures_of(roll_up(engine, now, crashed_before))
    with Session(engine) as session:
        by_class = rollups(session)
        return by_class, [f for f in reports.device_classes(session) if f.learnable]


def _findings(
    engine: Engine, by_class: Iterable[Rollup], fingerprints: Iterable[Fingerprint], now: datetime
) -> tuple[Finding, ...]:
    """What detectors see, and rollouts that were stopped."""
    with Session(engine) as session:
        graphs = operations_of(models.all_models(session))
        devices = devices_of(fingerprints, reports.reports_by_class(session))
        stopped = breaches(session, now)
    rows = [row for row in by_class if row.cell.group in devices]
    return (*with_severity(stopped, rows, devices), *find(rows, devices, graphs))


def _packed(by_workload: Mapping[Workload, Splits]) -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
    """Driver stack → app → model → workload → ranking, as a release carries it."""
    packed: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    for workload, splits in by_workload.items():
        shares = {(split.device_class, split.model): split for split in splits}
        for learned in splits.rankings:
            split = shares.get((learned.device_class, learned.model))
            if split is not None:
                app, model = app_and_model(learned.model)
                of_model = packed.setdefault(learned.device_class, {}).setdefault(app, {}).setdefault(model, {})
                of_model[workload.value] = _ranking(learned, split).to_json()
    return packed


def _ranking(learned: Learned, split: Split) -> Ranking:
    return Ranking(
        tuple(RankedArm(a.arm, a.latency_ms, a.log_sd, a.reports) for a in learned.arms[:KEPT_ARMS]),
        tuple(ArmShare(w.arm, w.weight_bp, w.explore) for w in split.weights),
        {a.arm: a.excluded.value for a in learned.excluded},
    )
