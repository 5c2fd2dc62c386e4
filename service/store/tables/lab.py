"""What labs measured, apart from the fleet."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from service.store.tables.columns import moment


class LabDeviceRow(SQLModel, table=True):
    """A device class that a lab has measured, known to the fleet or not. See `service.store.lab`."""

    __tablename__ = "lab_device"

    device_class: str = Field(sa_column=Column(Text, primary_key=True))
    fingerprint: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    first_imported: datetime = moment()


class LabMeasurementRow(SQLModel, table=True):
    """A series of runs that a lab made of one file on one device. Its id follows from the file's content.

    `arm` is that of who executed; None where nobody can be credited, and `set_aside` says why. `latency_us` is a mean.
    """

    __tablename__ = "lab_measurement"

    measurement_id: str = Field(sa_column=Column(Text, primary_key=True))
    file_sha256: str
    file: str = Field(sa_column=Column(Text, nullable=False))
    place: str = Field(sa_column=Column(Text, nullable=False))
    source: str
    imported_at: datetime = moment()
    set_aside: str | None = None
    device_class: str = Field(foreign_key="lab_device.device_class", index=True)
    app: str
    model: str
    variant: str
    arm: str | None = None
    asked_delegate: str | None = None
    asked_accelerator: str | None = None
    executed_by: str
    delegated_nodes: int | None = None
    total_nodes: int | None = None
    partitions: int | None = None
    runs: int | None = Field(default=None, sa_type=BigInteger)
    latency_us: float
    min_us: float | None = None
    max_us: float | None = None
    init_us: float | None = None
    first_run_us: float | None = None
    memory_peak_kb: int | None = Field(default=None, sa_type=BigInteger)
