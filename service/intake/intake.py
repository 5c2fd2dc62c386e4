"""Take a batch: every record judged by itself, all stored in one transaction, acknowledged after its commit."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from sqlalchemy import Engine
from sqlmodel import Session

from policies.cohort_screen import cohort_reason
from policies.errors import BodyTooLarge
from policies.observation import Observation, decode_observation
from policies.rollouts.staging import parted
from policies.screen import clock_fault, screen
from service.intake.admission import Quota, Slots
from service.intake.batch import MAX_RECORDS, UNREADABLE, several, split
from service.intake.cohorts import Cell, Cohorts
from service.intake.encodings import TooManyBytes, inflate
from service.intake.room import Room
from service.intake.row import Record, flat_row, timing
from service.intake.verdicts import Verdicts
from service.settings import Settings
from service.store import releases, reports, tallies, telemetry

MOST_A_CELL: Final = 60
"""Windows of one arm that a batch, which is one phone's, may teach, and as many starts: one a minute for an hour."""
KNOWN_REPORTS: Final = 200_000
"""Reports whose class a worker remembers, some 30 MB."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Whose batch it is, as far as that is known: the name of an API key, and the app that the key is bound to."""

    key: str | None = None
    app: str | None = None


ANYBODY: Final = Sender()


class Intake:
    """Stores batches. One for each worker: it remembers classes of reports and what cohorts have measured."""

    def __init__(self, engine: Engine, room: Room, slots: Slots, quota: Quota, key_quota: Quota) -> None:
        self.room = room
        self._engine = engine
        self._slots = slots
        self._quota = quota
        self._key_quota = key_quota
        self._cohorts = Cohorts()
        self._classes: dict[str, tuple[str, bool]] = {}
        self._newest_release = 0

    @classmethod
    def of(cls, engine: Engine, settings: Settings) -> Self:
        """As the settings bound it. Two connections stay for lookups and uploads of reports."""
        return cls(
            engine,
            Room(engine, settings.most_database_bytes, settings.least_free_bytes),
            Slots(max(1, settings.pool_size - 2)),
            Quota("report", settings.report_records_a_minute),
            Quota("key", settings.key_records_a_minute),
        )

    def take(
        self, body: bytes, encoding: str, received_at: datetime, *, ndjson: bool, sender: Sender = ANYBODY
    ) -> Verdicts:
        """Store a batch; when this returns, what is acknowledged is committed.

        Raises BodyTooLarge, MalformedBody, UnsupportedEncoding, MalformedJson or TooManyRecords for the batch as a whole,
        and Overloaded or QuotaExceeded where it has to come again.
        """
        verdicts = Verdicts()
        first, repeats = _decoded(_records(body, encoding, ndjson=ndjson), verdicts, sender.app)
        if sender.key is not None:
            self._key_quota.charge({sender.key: len(first)})
        self._quota.charge(Counter(record.observation.report_id for record in first.values()))
        with self._slots.one(), Session(self._engine) as session, session.begin():
            stored = self._store(session, first, received_at, verdicts)
            for record in repeats:
                _judge_repeat(verdicts, record, stored.get(record.key))
            tallies.add(session, received_at, verdicts.counted())
        return verdicts

    def _store(
        self, session: Session, decoded: dict[bytes, Record], received_at: datetime, verdicts: Verdicts
    ) -> dict[bytes, bytes]:
        """Store what is new; returns the digests of what is stored now under the records' ids."""
        known = self._with_classes(session, decoded.values(), verdicts)
        rows = self._rows(session, known, received_at)
        inserted = telemetry.insert_new(session, rows)
        stored = telemetry.payload_digests(session, {row["record_id"] for row in rows} - inserted)
        for row in rows:
            key = row["record_id"]
            if key not in inserted:
                verdicts.repeated(decoded[key].index, same=stored[key] == row["payload_sha256"])
            else:
                verdicts.stored(key, row["set_aside"])
                verdicts.note(clock_fault(row["clock_skew_s"]))
        return {row["record_id"]: row["payload_sha256"] for row in rows} | stored

    def _with_classes(
        self, session: Session, records: Iterable[Record], verdicts: Verdicts
    ) -> list[tuple[Record, str, bool]]:
        """Records with their class and whether it may teach; those of reports that nobody uploaded are rejected."""
        records = list(records)
        classes = self._classes = self._classes if len(self._classes) < KNOWN_REPORTS else {}
        if unknown := {record.observation.report_id for record in records} - classes.keys():
            classes |= reports.classes_of(session, unknown)
        known = []
        for record in records:
            if (found := classes.get(record.observation.report_id)) is None:
                verdicts.reject(record.index, "unknown-report")
            else:
                known.append((record, *found))
        return known

    def _newest_among(self, session: Session, known: list[tuple[Record, str, bool]]) -> int:
        """The newest release, looked up where a record names a newer one than was seen so far."""
        if max((record.observation.release for record, *_ in known), default=0) > self._newest_release:
            self._newest_release = releases.newest_number(session) or 0
        return self._newest_release

    def _rows(
        self, session: Session, known: list[tuple[Record, str, bool]], received_at: datetime
    ) -> list[dict[str, Any]]:
        newest = self._newest_among(session, known)
        cells = [_cell(device_class, record.observation) for record, device_class, _ in known]
        expected = self._cohorts.expected(session, set(cells))
        taught: Counter[tuple[Cell, str]] = Counter()
        rows = []
        for (record, device_class, learnable), cell in zip(known, cells, strict=True):
            seen = record.observation
            measured, reason = None, screen(seen, learnable=learnable, newest_release=newest)
            if reason is None and (measured := timing(seen)) is not None:
                reason = cohort_reason(measured.p50_us, expected[cell], checked=_passed(seen))
            if reason is None:
                taught[cell, seen.kind] += 1
                reason = "over-batch-share" if taught[cell, seen.kind] > MOST_A_CELL else None
            rows.append(flat_row(record, device_class, reason, measured, received_at))
        return rows


def _records(body: bytes, encoding: str, *, ndjson: bool) -> list[bytes]:
    try:
        return split(inflate(body, encoding), ndjson=ndjson)
    except TooManyBytes as error:
        splittable = several(error.beginning, ndjson=ndjson)
        raise BodyTooLarge(
            error.detail, limit=error.limit_bytes, limit_items=MAX_RECORDS, splittable=splittable
        ) from error


def _decoded(raws: Iterable[bytes], verdicts: Verdicts, app: str | None) -> tuple[dict[bytes, Record], list[Record]]:
    """Readable records of the app (None: of any) by id, and those whose id an earlier one of the batch has."""
    first: dict[bytes, Record] = {}
    repeats: list[Record] = []
    for index, raw in enumerate(raws):
        try:
            observation = decode_observation(raw)
        except UNREADABLE as error:
            verdicts.reject(index, "invalid-record", str(error))
            continue
        if app is not None and observation.app != app:
            verdicts.reject(index, "another-app", f"this key is for the app {app!r} only")
            continue
        record = Record(index, observation.record_id.bytes, observation, raw, hashlib.sha256(raw).digest())
        if first.setdefault(record.key, record) is not record:
            repeats.append(record)
    return first, repeats


def _judge_repeat(verdicts: Verdicts, record: Record, stored_digest: bytes | None) -> None:
    """A repeat within the batch fares as its first: where that was not stored, neither is acknowledged."""
    if stored_digest is None:
        verdicts.reject(record.index, "unknown-report")
    else:
        verdicts.repeated(record.index, same=stored_digest == record.digest)


def _cell(device_class: str, observation: Observation) -> Cell:
    return device_class, observation.app, observation.model, parted(observation.arm)[0]


def _passed(observation: Observation) -> bool:
    golden = observation.golden
    return golden is not None and 0 < golden.checks == golden.passed
