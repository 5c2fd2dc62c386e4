"""What phones told of themselves: reports, and the classes of devices they make."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import ARRAY, BigInteger, Column, Computed, ForeignKey, Identity, LargeBinary, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from service.store.tables.columns import moment


class DeviceClassRow(SQLModel, table=True):
    """All devices with one fingerprint."""

    __tablename__ = "device_class"

    device_class: str = Field(sa_column=Column(Text, primary_key=True))
    fingerprint: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    learnable: bool
    first_seen: datetime = moment()


_WORDS: Final = "lower(manufacturer || ' '::text || model || ' '::text || COALESCE(soc, ''::text))"


class ClassFactsRow(SQLModel, table=True):
    """The facts of a class that lists filter, sort and count by, and how many reports it has: see `service.store.class_facts`.

    `words` are what a search looks at, in small letters, made by the database.
    Apart from the fingerprint, so that a scan reads a few hundred bytes a class and unpacks nothing. No index, but the key:
    at 100,000 classes every filter and every order is one scan, and texts of strangers may be longer than an index takes.
    """

    __tablename__ = "class_facts"

    device_class: str = Field(sa_column=Column(ForeignKey("device_class.device_class"), primary_key=True))
    first_seen: datetime = moment()
    manufacturer: str = Field(sa_column=Column(Text, nullable=False))
    model: str = Field(sa_column=Column(Text, nullable=False))
    soc: str | None = Field(default=None, sa_column=Column(Text))
    soc_vendor: str | None = Field(default=None, sa_column=Column(Text))
    api_level: int
    nnapi_level: int | None = None
    population: str = Field(sa_column=Column(Text, nullable=False))
    accelerators: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    anomalies: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    reports: int = Field(sa_type=BigInteger)
    words: str | None = Field(default=None, sa_column=Column(Text, Computed(_WORDS, persisted=True)))


class FleetTallyRow(SQLModel, table=True):
    """How many classes and reports have a value of a fact: a few rows a report, folded into one a value."""

    __tablename__ = "fleet_tally"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    fact: str
    value: str
    device_classes: int = Field(sa_type=BigInteger)
    reports: int = Field(sa_type=BigInteger)


class ReportRow(SQLModel, table=True):
    """A capability report, its exact bytes, and the class it belongs to."""

    __tablename__ = "report"

    report_id: str = Field(sa_column=Column(Text, primary_key=True))
    device_class: str = Field(foreign_key="device_class.device_class", index=True)
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    received_at: datetime = moment()
