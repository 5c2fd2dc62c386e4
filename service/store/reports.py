"""Reports and the device classes they belong to."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import cast, func
from sqlalchemy import select as sa_select
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlmodel import Session, col, select

from policies.fingerprint import Fingerprint
from service.store import class_facts
from service.store.tables import ClassFactsRow, DeviceClassRow, ReportRow


def store_report(
    session: Session, report_id: str, body: bytes, fingerprint: Fingerprint, received_at: datetime
) -> bool:
    """Store the report and its class, both once; True where the report is new."""
    facts = {
        "device_class": fingerprint.device_class,
        "fingerprint": fingerprint.model_dump(mode="json"),
        "learnable": fingerprint.learnable,
    }
    known = insert(DeviceClassRow).values(**facts, first_seen=received_at).on_conflict_do_nothing()
    new_class = session.execute(known.returning(DeviceClassRow.device_class)).first() is not None  # type: ignore[call-overload]
    if new_class:
        class_facts.add(session, fingerprint, received_at)
    row = {"report_id": report_id, "device_class": fingerprint.device_class, "body": body, "received_at": received_at}
    stored = session.execute(insert(ReportRow).values(**row).on_conflict_do_nothing().returning(ReportRow.report_id))  # type: ignore[call-overload]
    new = stored.first() is not None
    if new or new_class:
        class_facts.count(session, fingerprint.device_class, device_classes=int(new_class), reports=int(new))
    return new


def report_body(session: Session, report_id: str) -> bytes | None:
    """The exact bytes of a report, or None where it was never uploaded."""
    return session.exec(select(ReportRow.body).where(ReportRow.report_id == report_id)).first()


def report_bodies(session: Session, report_ids: Collection[str]) -> dict[str, bytes]:
    """report_id → the exact bytes, of those that are stored."""
    rows = session.exec(select(ReportRow.report_id, ReportRow.body).where(col(ReportRow.report_id).in_(report_ids)))
    return dict(rows.all())


def classes_of(session: Session, report_ids: set[str]) -> dict[str, tuple[str, bool]]:
    """report_id → (device class, whether it may feed learning) of those that are known."""
    rows = session.exec(
        select(ReportRow.report_id, DeviceClassRow.device_class, DeviceClassRow.learnable)
        .join(DeviceClassRow)
        .where(col(ReportRow.report_id).in_(report_ids))
    )
    return {rid: (device_class, learnable) for rid, device_class, learnable in rows}


def device_classes(session: Session) -> list[Fingerprint]:
    """The fingerprints of all classes seen so far."""
    rows = session.exec(select(DeviceClassRow.fingerprint).order_by(col(DeviceClassRow.device_class)))
    return [Fingerprint.model_validate(facts) for facts in rows]


def fingerprints(session: Session, device_classes: Collection[str]) -> dict[str, Fingerprint]:
    """Class → its fingerprint as it was stored, of those that are known."""
    asked = select(DeviceClassRow).where(col(DeviceClassRow.device_class).in_(device_classes))
    return {row.device_class: Fingerprint.model_validate(row.fingerprint) for row in session.exec(asked)}


def reports_by_class(session: Session) -> dict[str, int]:
    """Distinct reports of each class."""
    rows = session.exec(select(ReportRow.device_class, func.count()).group_by(col(ReportRow.device_class)))
    return dict(rows.all())


def report_of_class(session: Session, device_class: str) -> str | None:
    """Some report of the class, for explaining it."""
    return session.exec(
        select(ReportRow.report_id).where(ReportRow.device_class == device_class).order_by(col(ReportRow.received_at))
    ).first()


class ClassOfPhone(NamedTuple):
    """A class among those that one phone was in, as updates changed it."""

    device_class: str
    api_level: int
    first_seen: datetime


def classes_of_phone(session: Session, manufacturer: str, model: str) -> list[ClassOfPhone]:
    """The classes of all phones of that name, the oldest first."""
    rows = session.exec(
        select(ClassFactsRow.device_class, ClassFactsRow.api_level, ClassFactsRow.first_seen)
        .where(ClassFactsRow.manufacturer == manufacturer, ClassFactsRow.model == model)
        .order_by(col(ClassFactsRow.first_seen), col(ClassFactsRow.device_class))
    )
    return [ClassOfPhone(*row) for row in rows]


class ReportsOfChip(NamedTuple):
    """Reports of one class that name the chip in one way; `report_id` is any of them."""

    soc_manufacturer: str | None
    soc_model: str | None
    reports: int
    report_id: str


def reports_by_chip(session: Session, limit: int) -> list[ReportsOfChip]:
    """How many reports of each class name which chip, the most first. Reads every report: seconds where there are many."""
    device = cast(func.convert_from(ReportRow.body, "UTF8"), JSONB)["device"]
    named = (device["soc_manufacturer"].astext, device["soc_model"].astext)
    count = func.count()
    asked = (
        sa_select(*named, count, func.min(ReportRow.report_id))
        .group_by(col(ReportRow.device_class), *named)
        .order_by(count.desc(), func.min(ReportRow.report_id))
        .limit(limit)
    )
    return [ReportsOfChip(*row) for row in session.execute(asked)]


def count_reports(session: Session) -> int:
    """How many distinct reports are stored."""
    return session.exec(select(func.count()).select_from(ReportRow)).one()
