"""What phones measured, merged by day and cell."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import ARRAY, BigInteger, Column, Integer
from sqlmodel import Field, SQLModel

from service.store.tables.columns import moment


class RolledDayRow(SQLModel, table=True):
    """A day of receipt whose observations are rolled up. `settled`: nothing that comes later changes it."""

    __tablename__ = "rolled_day"

    day: date = Field(primary_key=True)
    rolled_at: datetime = moment()
    observations: int = Field(sa_type=BigInteger)
    settled: bool


class RollupRow(SQLModel, table=True):
    """Observations of one day of receipt, device class, arm and situation, merged. Counts are windows where not stated.

    Two histograms in buckets of `policies.screen`: `latency_*` of runs, `p50_*` of the medians of windows.
    """

    __tablename__ = "observation_rollup"

    day: date = Field(primary_key=True)
    device_class: str = Field(primary_key=True)
    app: str = Field(primary_key=True)
    model: str = Field(primary_key=True)
    arm: str = Field(primary_key=True)
    workload: str = Field(primary_key=True)
    heat: str = Field(primary_key=True)
    windows: int = Field(sa_type=BigInteger)
    measured: int = Field(sa_type=BigInteger)
    runs: int = Field(sa_type=BigInteger)
    latency_buckets: list[int] = Field(sa_column=Column(ARRAY(Integer), nullable=False))
    latency_counts: list[int] = Field(sa_column=Column(ARRAY(BigInteger), nullable=False))
    p50_buckets: list[int] = Field(sa_column=Column(ARRAY(Integer), nullable=False))
    p50_counts: list[int] = Field(sa_column=Column(ARRAY(BigInteger), nullable=False))
    golden_checked: int = Field(sa_type=BigInteger)
    golden_failed: int = Field(sa_type=BigInteger)
    failed: int = Field(sa_type=BigInteger)
    timed_out: int = Field(sa_type=BigInteger)
    attempts: int = Field(sa_type=BigInteger)
    crashed: int = Field(sa_type=BigInteger)
    delegated_windows: int = Field(sa_type=BigInteger)
    delegated_share_sum: float
    on_cpu: int = Field(sa_type=BigInteger)
    split_windows: int = Field(sa_type=BigInteger)
    partitions_sum: int = Field(sa_type=BigInteger)
    error_windows: int = Field(sa_type=BigInteger)
    log_error_sum: float
    loaded: int = Field(sa_type=BigInteger)
    load_us_sum: int = Field(sa_type=BigInteger)
    compiled: int = Field(sa_type=BigInteger)
    compile_us_sum: int = Field(sa_type=BigInteger)
    memory_windows: int = Field(sa_type=BigInteger)
    log_memory_sum: float
    non_finite: int = Field(sa_type=BigInteger)
    too_good: int = Field(sa_type=BigInteger)


class CohortMedianRow(SQLModel, table=True):
    """The median (µs) that a device class has measured of an arm, over all days that are rolled up: what the screen asks."""

    __tablename__ = "cohort_median"

    device_class: str = Field(primary_key=True)
    app: str = Field(primary_key=True)
    model: str = Field(primary_key=True)
    arm: str = Field(primary_key=True)
    windows: int = Field(sa_type=BigInteger)
    p50_us: float


class ArmTallyRow(SQLModel, table=True):
    """What the whole fleet has measured of an arm of a model, over all days that are rolled up; counts of windows."""

    __tablename__ = "arm_tally"

    app: str = Field(primary_key=True)
    model: str = Field(primary_key=True)
    arm: str = Field(primary_key=True)
    device_classes: int = Field(sa_type=BigInteger)
    windows: int = Field(sa_type=BigInteger)
    delegated_windows: int = Field(sa_type=BigInteger)
    delegated_share_sum: float
    failed: int = Field(sa_type=BigInteger)
    timed_out: int = Field(sa_type=BigInteger)
    golden_checked: int = Field(sa_type=BigInteger)
    golden_failed: int = Field(sa_type=BigInteger)
    attempts: int = Field(sa_type=BigInteger)
    crashed: int = Field(sa_type=BigInteger)
