"""Files of labs → stored measurements: each file in a transaction of its own, so that a bad one never sinks the others."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Engine
from sqlmodel import Session

from ml.datasets.lab import LabFileError, LabMeasurement, read
from ml.datasets.lab.credit import credited
from ml.datasets.lab.variant import variant_of
from ml.rollup import Cell
from policies.cohort_screen import MIN_WINDOWS, Expected, cohort_reason
from policies.fingerprint import Fingerprint
from policies.model import ModelSpec
from service.store import lab, rollups


@dataclass(frozen=True, slots=True)
class Bench:
    """What was measured on what: the device by its facts, the app's model, the file where it is named.

    `device` is the one that is meant of a file that holds many.
    """

    fingerprint: Fingerprint
    model: ModelSpec
    variant: str | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file: measurements that are new, that were known, and of the new ones those set aside, by reason.

    `error` says why nothing of the file was taken.
    """

    file: str
    new: int = 0
    known: int = 0
    set_aside: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        told = {"file": self.file, "new": self.new, "known": self.known, "set_aside": dict(self.set_aside)}
        return told | ({"error": self.error} if self.error else {})


def take(engine: Engine, file: str, content: bytes, bench: Bench, now: datetime) -> Imported:
    """Store what a file holds; the same content for the same device and model is stored once, under whatever name."""
    try:
        measured = read(file, content, bench.device)
        with Session(engine) as session, session.begin():
            medians = _medians(session, bench)
            rows = [_row(file, content, one, bench, medians, now) for one in measured]
            lab.add_device(session, bench.fingerprint, now)
            new = lab.insert_new(session, rows)
    except LabFileError as error:
        return Imported(file, error=str(error))
    aside = Counter(row["set_aside"] for row in rows if row["measurement_id"] in new and row["set_aside"])
    return Imported(file, len(new), len(rows) - len(new), dict(aside))


def lab_cells(session: Session) -> tuple[dict[str, Fingerprint], list[tuple[Cell, float]]]:
    """The labs' devices by driver stack, and what may be learned: (cell on a stack, latency in µs)."""
    devices = lab.devices(session)
    stack_of = {device.device_class: device.driver_stack for device in devices}
    measured = [
        (Cell(stack_of[row.device_class], row.app, row.model, row.arm), row.latency_us)
        for row in lab.learnable(session)
        if row.arm is not None
    ]
    return {device.driver_stack: device for device in devices}, measured


def _medians(session: Session, bench: Bench) -> Mapping[str, float]:
    """What the fleet has measured of the model on this class: arm → median in µs."""
    key = (bench.fingerprint.device_class, bench.model.app, bench.model.name)
    return rollups.medians_us(session, [key], MIN_WINDOWS).get(key, {})


def _row(
    file: str, content: bytes, one: LabMeasurement, bench: Bench, medians: Mapping[str, float], now: datetime
) -> dict[str, Any]:
    variant = variant_of(file, one, bench.model, bench.variant)
    credit = credited(one, variant, bench.fingerprint, bench.model)
    reason: str | None = credit.reason
    if reason is None and credit.arm is not None:
        reason = cohort_reason(one.latency_us, _expected(medians, credit.arm), checked=False)
    claim = next((claim for claim in reversed(one.claims) if claim.took_any), None)
    digest = hashlib.sha256(content).hexdigest()
    named = (digest, one.place, bench.fingerprint.device_class, bench.model.app, bench.model.name, variant.id)
    return {
        "measurement_id": hashlib.sha256("\n".join(named).encode()).hexdigest(),
        "file_sha256": digest,
        "file": file,
        "place": one.place,
        "source": one.source.value,
        "imported_at": now,
        "set_aside": reason,
        "device_class": bench.fingerprint.device_class,
        "app": bench.model.app,
        "model": bench.model.name,
        "variant": variant.id,
        "arm": credit.arm,
        "asked_delegate": one.asked_delegate,
        "asked_accelerator": one.asked_accelerator,
        "executed_by": credit.by,
        "delegated_nodes": claim.nodes if claim else None,
        "total_nodes": claim.total if claim else None,
        "partitions": claim.partitions if claim else None,
        "runs": one.runs,
        "latency_us": one.latency_us,
        "min_us": one.min_us,
        "max_us": one.max_us,
        "init_us": one.init_us,
        "first_run_us": one.first_run_us,
        "memory_peak_kb": one.memory_peak_kb,
    }


def _expected(medians: Mapping[str, float], arm: str) -> Expected:
    return Expected(medians.get(arm), min(medians.values(), default=None))
