"""Tables. They stay apart from wire classes: a table class validates nothing."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Column,
    Computed,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Text,
    text,
)
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


_WORDS: Final = "lower(manufacturer || ' '::text || model || ' '::text || COALESCE(soc, ''::text))"


class ClassFactsRow(SQLModel, table=True):
    """The facts of a class that lists filter, sort and count by, and how many reports it has: see `service.store.class_facts`.

    `words` are what a search looks at, in small letters, made by the database.
    Apart from the fingerprint, so that a scan reads a few hundred bytes a class and unpacks nothing. No index, but the key:
    at 100,000 classes every filter and every order is one scan, and texts of strangers may be longer than an index takes.
    """

    __tablename__ = "class_facts"

    device_class: str = Field(sa_column=Column(ForeignKey("device_class.device_class"), primary_key=True))
    first_seen: datetime = _moment()
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
    received_at: datetime = _moment()


class RevisionRow(SQLModel, table=True):
    """A proposal for what devices see. The database refuses changes of everything but its state and its review.

    `base` is the revision it edits; `self_approved` says that its author approved it, as the only user there was.
    """

    __tablename__ = "revision"
    __table_args__ = (Index("ix_revision_subject", "kind", "subject", "number"),)

    number: int | None = Field(default=None, primary_key=True)
    kind: str
    subject: str
    content: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    base: int | None = None
    note: str = Field(sa_column=Column(Text, nullable=False))
    author: str
    created_at: datetime = _moment()
    state: str
    reviewer: str | None = None
    reviewed_at: datetime | None = _moment(nullable=True)
    review_note: str | None = None
    self_approved: bool = False


class ArtifactRow(SQLModel, table=True):
    """A file that is kept, by its digest, and what was read from it: no `format` where nothing here reads its kind.

    `graph` is apart from `facts`, as it is long and few ask for it. `uploaded_at` is the last upload: unused files go
    by their age.
    """

    __tablename__ = "artifact"

    sha256: str = Field(sa_column=Column(Text, primary_key=True))
    size_bytes: int = Field(sa_type=BigInteger)
    format: str | None = None
    precision: str | None = None
    graph: dict[str, Any] | None = Field(default=None, sa_column=Column(_JSONB_OR_NULL))
    facts: dict[str, Any] | None = Field(default=None, sa_column=Column(_JSONB_OR_NULL))
    uploaded_by: str
    uploaded_at: datetime = _moment()


_ACT_WORDS: Final = "lower(actor || ' '::text || action || ' '::text || subject || ' '::text || detail)"


class AuditRow(SQLModel, table=True):
    """One act of management. Append-only: see `service.store.audit`. `words` are what a search looks at, made by the database."""

    __tablename__ = "audit"

    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    at: datetime = _moment()
    actor: str
    action: str
    subject: str
    detail: str = Field(sa_column=Column(Text, nullable=False))
    previous_sha256: str
    sha256: str
    words: str | None = Field(default=None, sa_column=Column(Text(collation="C"), Computed(_ACT_WORDS, persisted=True)))


class RecommendationRow(SQLModel, table=True):
    """Rankings of one learning run, compressed; the newest one goes into the next release."""

    __tablename__ = "recommendation"

    id: int | None = Field(default=None, primary_key=True)
    made_at: datetime = _moment()
    figures: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    rankings: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class ApiKeyRow(SQLModel, table=True):
    """A key of the API, without its secret: of that only the sha256 is kept.

    `role` is None for a key that manages nothing, `app` is None for a key of all apps.
    """

    __tablename__ = "api_key"

    name: str = Field(primary_key=True)
    secret_sha256: str = Field(unique=True)
    scopes: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    role: str | None = None
    app: str | None = None
    created_at: datetime = _moment()
    revoked_at: datetime | None = _moment(nullable=True)


class ReleaseContentRow(SQLModel, table=True):
    """Documents, models and rankings, compressed, by the digest of what they hold: releases share them."""

    __tablename__ = "release_content"

    sha256: str = Field(primary_key=True)
    content: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class ReleaseRow(SQLModel, table=True):
    """What devices see: numbered, immutable, complete.

    `revisions` are the numbers of what it is made of, `quarantines` the denies laid over it, `diff` what changed
    against the release before. In a rollout, `share_bp` of 10,000 units get `candidate_sha256` instead.
    """

    __tablename__ = "release"

    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    published_at: datetime = _moment()
    note: str = Field(sa_column=Column(Text, nullable=False))
    author: str
    content_sha256: str = Field(foreign_key="release_content.sha256")
    candidate_sha256: str | None = Field(default=None, foreign_key="release_content.sha256")
    share_bp: int | None = None
    rollout: int | None = None
    revisions: list[int] = Field(sa_column=Column(ARRAY(Integer), nullable=False))
    quarantines: list[dict[str, Any]] = Field(sa_column=Column(JSONB, nullable=False))
    diff: list[dict[str, Any]] = Field(sa_column=Column(JSONB, nullable=False))


class RolloutRow(SQLModel, table=True):
    """A staged rollout. All the guard has to know is here: one that dies is followed by another.

    `cohorts`: the SoCs and models there were at its start. `judgement`: what the guard made of it last. `timeline`:
    what happened, in order.
    """

    __tablename__ = "rollout"

    number: int | None = Field(default=None, primary_key=True)
    state: str
    note: str = Field(sa_column=Column(Text, nullable=False))
    author: str
    plan: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    control_sha256: str = Field(foreign_key="release_content.sha256")
    control_revisions: list[int] = Field(sa_column=Column(ARRAY(Integer), nullable=False))
    candidate_sha256: str = Field(foreign_key="release_content.sha256")
    candidate_revisions: list[int] = Field(sa_column=Column(ARRAY(Integer), nullable=False))
    cohorts: dict[str, list[str]] = Field(sa_column=Column(JSONB, nullable=False))
    step: int
    step_release: int
    step_started_at: datetime = _moment()
    started_at: datetime = _moment()
    ended_at: datetime | None = _moment(nullable=True)
    judgement: dict[str, Any] | None = Field(default=None, sa_column=Column(_JSONB_OR_NULL))
    timeline: list[dict[str, Any]] = Field(sa_column=Column(JSONB, nullable=False))


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
    attempt_id: UUID | None = None
    memory_peak_kb: int | None = Field(default=None, sa_type=BigInteger)
    device_time: datetime | None = _moment(nullable=True)
    monotonic_ms: int | None = Field(default=None, sa_type=BigInteger)
    clock_skew_s: float | None = None
    sdk: str | None = None
    app_version: str | None = None
    side: str | None = None


class LabDeviceRow(SQLModel, table=True):
    """A device class that a lab has measured, known to the fleet or not. See `service.store.lab`."""

    __tablename__ = "lab_device"

    device_class: str = Field(sa_column=Column(Text, primary_key=True))
    fingerprint: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    first_imported: datetime = _moment()


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
    imported_at: datetime = _moment()
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


class TallyRow(SQLModel, table=True):
    """What became of records: a few rows a batch, written with it, and folded into one a day, verdict and reason."""

    __tablename__ = "telemetry_tally"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    day: date
    verdict: str
    reason: str
    records: int = Field(sa_type=BigInteger)


class RolledDayRow(SQLModel, table=True):
    """A day of receipt whose observations are rolled up. `settled`: nothing that comes later changes it."""

    __tablename__ = "rolled_day"

    day: date = Field(primary_key=True)
    rolled_at: datetime = _moment()
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
    hot: bool = Field(primary_key=True)
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


class FindingRow(SQLModel, table=True):
    """What detectors saw, once for each name, SoC and arms; `content` is how it was told last, by `Finding.to_json`.

    `present`: the newest look saw it too. `recommendation` is the learning run that saw it last, None for a mere look.
    """

    __tablename__ = "finding"

    id: str = Field(primary_key=True)
    name: str
    soc: str
    windows: int = Field(sa_type=BigInteger)
    content: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    first_seen: datetime = _moment()
    last_seen: datetime = _moment()
    looks: int
    present: bool
    recommendation: int | None = None


class JobRunRow(SQLModel, table=True):
    """One run of a job: how far it is, what came of it, what it said."""

    __tablename__ = "job_run"
    __table_args__ = (Index("ix_job_run_job_started_at", "job", "started_at"),)

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    job: str
    state: str
    started_at: datetime = _moment()
    ended_at: datetime | None = _moment(nullable=True)
    progress: float
    figures: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    log: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))


class RoundRow(SQLModel, table=True):
    """What a simulated fleet truly got under a release: known only where the truth is known, as in the demo."""

    __tablename__ = "fleet_round"

    release: int = Field(primary_key=True)
    figures: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    noted_at: datetime = _moment()
