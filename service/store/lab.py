"""Lab measurements and their devices: apart from the fleet's observations, reports and classes, so that nothing counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, select

from policies.fingerprint import Fingerprint
from service.store.tables import DeviceClassRow, LabDeviceRow, LabMeasurementRow


def add_device(session: Session, fingerprint: Fingerprint, now: datetime) -> None:
    """Note a device class as one that a lab has measured; once."""
    row = {
        "device_class": fingerprint.device_class,
        "fingerprint": fingerprint.model_dump(mode="json"),
        "first_imported": now,
    }
    session.execute(insert(LabDeviceRow).values(**row).on_conflict_do_nothing())


def insert_new(session: Session, rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Insert the rows whose id is new; returns the ids that were inserted."""
    if not rows:
        return set()
    asked = insert(LabMeasurementRow).values(list(rows)).on_conflict_do_nothing()
    return set(session.execute(asked.returning(col(LabMeasurementRow.measurement_id))).scalars())


def fleet_class(session: Session, device_class: str) -> Fingerprint | None:
    """The fingerprint of a class that phones have reported, None where there is none of that id."""
    facts = session.exec(select(DeviceClassRow.fingerprint).where(DeviceClassRow.device_class == device_class)).first()
    return None if facts is None else Fingerprint.model_validate(facts)


def devices(session: Session) -> list[Fingerprint]:
    """The fingerprints of all devices that labs have measured."""
    rows = session.exec(select(LabDeviceRow.fingerprint).order_by(col(LabDeviceRow.device_class)))
    return [Fingerprint.model_validate(facts) for facts in rows]


def learnable(session: Session) -> list[LabMeasurementRow]:
    """Measurements that may teach, the oldest first."""
    asked = select(LabMeasurementRow).where(col(LabMeasurementRow.set_aside).is_(None))
    return list(session.exec(asked.order_by(col(LabMeasurementRow.imported_at), col(LabMeasurementRow.measurement_id))))


def of_class(session: Session, device_class: str) -> list[LabMeasurementRow]:
    """All measurements of a device class, by app, model and arm."""
    asked = select(LabMeasurementRow).where(LabMeasurementRow.device_class == device_class)
    columns = (LabMeasurementRow.app, LabMeasurementRow.model, LabMeasurementRow.arm, LabMeasurementRow.measurement_id)
    return list(session.exec(asked.order_by(*map(col, columns))))
