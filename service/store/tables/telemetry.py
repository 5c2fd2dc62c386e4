"""What phones measured, record by record, and what became of the records."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, Column, Identity, Index, Integer, LargeBinary, text
from sqlmodel import Field, SQLModel

from service.store.tables.columns import JSONB_OR_NULL, moment


class ObservationRow(SQLModel, table=True):
    """One telemetry record, flat: who, what was asked, who executed, how long, under which conditions.

    Partitioned by `day`, a function of the record id alone (`service.store.partitions.day_of`): a key of both is unique
    by the id, in whichever partition and however late a retry comes.
    """

    __tablename__ = "observation"
    __table_args__ = (
        Index("ix_observation_received_at", "received_at", postgresql_using="brin"),
        Index("ix_observation_set_aside", "received_at", postgresql_where=text("set_aside IS NOT NULL")),
        {"postgresql_partition_by": "RANGE (day)"},
    )

    record_id: UUID = Field(primary_key=True)
    day: date = Field(primary_key=True)
    payload_sha256: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    received_at: datetime = moment()
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
    errors: dict[str, int] | None = Field(default=None, sa_column=Column(JSONB_OR_NULL))
    timeouts: int | None = None
    fallbacks: int | None = None
    latency_min_us: int | None = Field(default=None, sa_type=BigInteger)
    latency_p50_us: float | None = None
    latency_p90_us: float | None = None
    latency_max_us: int | None = Field(default=None, sa_type=BigInteger)
    latency_sum_us: int | None = Field(default=None, sa_type=BigInteger)
    histogram_buckets: list[int] | None = Field(default=None, sa_column=Column(ARRAY(Integer)))
    histogram_counts: list[int] | None = Field(default=None, sa_column=Column(ARRAY(Integer)))
    conditions: dict[str, Any] | None = Field(default=None, sa_column=Column(JSONB_OR_NULL))
    thermal_after: int | None = None
    golden_checks: int | None = None
    golden_passed: int | None = None
    golden_max_rel_error: float | None = None
    attempt_id: UUID | None = None
    memory_peak_kb: int | None = Field(default=None, sa_type=BigInteger)
    device_time: datetime | None = moment(nullable=True)
    monotonic_ms: int | None = Field(default=None, sa_type=BigInteger)
    clock_skew_s: float | None = None
    sdk: str | None = None
    app_version: str | None = None
    side: str | None = None


class TallyRow(SQLModel, table=True):
    """What became of records: a few rows a batch, written with it, and folded into one a day, verdict and reason."""

    __tablename__ = "telemetry_tally"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    day: date
    verdict: str
    reason: str
    records: int = Field(sa_type=BigInteger)
