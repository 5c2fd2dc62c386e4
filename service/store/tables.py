"""Tables. They stay apart from wire classes: a table class validates nothing."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, Column, DateTime, Index, Integer, LargeBinary, MetaData, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

NAMING: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
SQLModel.metadata.naming_convention = NAMING
metadata: MetaData = SQLModel.metadata
_JSONB_OR_NULL: Final = JSONB(none_as_null=True)
"""Absent is SQL's NULL, not the JSON value of that name, which `IS NULL` would miss."""


def _moment(*, nullable: bool = False) -> Any:
    return Field(sa_column=Column(DateTime(timezone=True), nullable=nullable))


class DeviceClassRow(SQLModel, table=True):
    """All devices with one fingerprint."""

    __tablename__ = "device_class"

    device_class: str = Field(sa_column=Column(Text, primary_key=True))
    fingerprint: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    learnable: bool
    first_seen: datetime = _moment()


class ReportRow(SQLModel, table=True):
    """A capability report, its exact bytes, and the class it belongs to."""

    __tablename__ = "report"

    report_id: str = Field(sa_column=Column(Text, primary_key=True))
    device_class: str = Field(foreign_key="device_class.device_class", index=True)
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    received_at: datetime = _moment()


class ModelRow(SQLModel, table=True):
    """A registered model of an app."""

    __tablename__ = "model"

    app: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    spec: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    updated_at: datetime = _moment()


class PolicyRow(SQLModel, table=True):
    """The policy document of an app."""

    __tablename__ = "policy"

    app: str = Field(primary_key=True)
    document: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    updated_at: datetime = _moment()


class RecommendationRow(SQLModel, table=True):
    """Rankings of one learning run, compressed; the newest one goes into the next release."""

    __tablename__ = "recommendation"

    id: int | None = Field(default=None, primary_key=True)
    made_at: datetime = _moment()
    figures: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    rankings: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class ReleaseRow(SQLModel, table=True):
    """What devices see: numbered, immutable, complete."""

    __tablename__ = "release"

    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    published_at: datetime = _moment()
    note: str = Field(sa_column=Column(Text, nullable=False))
    content_sha256: str
    content: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class ObservationRow(SQLModel, table=True):
    """One telemetry record, flat: who, what was asked, who executed, how long, under which conditions."""

    __tablename__ = "observation"
    __table_args__ = (
        Index("ix_observation_learn", "device_class", "app", "model", "arm"),
        Index("ix_observation_received_at", "received_at", postgresql_using="brin"),
    )

    record_id: UUID = Field(primary_key=True)
    payload_sha256: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    received_at: datetime = _moment()
    set_aside: str | None = None
    set_aside_payload: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    report_id: str
    device_class: str
    app: str
    release: int
    model: str
    arm: str
    kind: str
    plan: str | None = None
    propensity: float | None = None
    workload: str | None = None
    requested_delegate: str | None = None
    requested_accelerator: str | None = None
    executed_by: str | None = None
    delegated_nodes: int | None = None
    total_nodes: int | None = None
    partitions: int | None = None
    load_us: int | None = Field(default=None, sa_type=BigInteger)
    compile_us: int | None = Field(default=None, sa_type=BigInteger)
    cache_hit: bool | None = None
    first_run_us: int | None = Field(default=None, sa_type=BigInteger)
    run_count: int | None = None
    errors: dict[str, int] | None = Field(default=None, sa_column=Column(_JSONB_OR_NULL))
    timeouts: int | None = None
    fallbacks: int | None = None
    latency_min_us: int | None = Field(default=None, sa_type=BigInteger)
    latency_p50_us: float | None = None
    latency_p90_us: float | None = None
    latency_max_us: int | None = Field(default=None, sa_type=BigInteger)
    latency_sum_us: int | None = Field(default=None, sa_type=BigInteger)
    histogram_buckets: list[int] | None = Field(default=None, sa_column=Column(ARRAY(Integer)))
    histogram_counts: list[int] | None = Field(default=None, sa_column=Column(ARRAY(Integer)))
    conditions: dict[str, Any] | None = Field(default=None, sa_column=Column(_JSONB_OR_NULL))
    thermal_after: int | None = None
    golden_checks: int | None = None
    golden_passed: int | None = None
    golden_max_rel_error: float | None = None
    attempt_id: UUID | None = Field(default=None, index=True)
    memory_peak_kb: int | None = Field(default=None, sa_type=BigInteger)
    device_time: datetime | None = _moment(nullable=True)
    monotonic_ms: int | None = Field(default=None, sa_type=BigInteger)
    clock_skew_s: float | None = None
    sdk: str | None = None
    app_version: str | None = None


class RoundRow(SQLModel, table=True):
    """What a simulated fleet truly got under a release: known only where the truth is known, as in the demo."""

    __tablename__ = "fleet_round"

    release: int = Field(primary_key=True)
    figures: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    noted_at: datetime = _moment()
