"""What jobs did and found."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Column, Identity, Index, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from service.store.tables.columns import moment


class JobRunRow(SQLModel, table=True):
    """One run of a job: how far it is, what came of it, what it said."""

    __tablename__ = "job_run"
    __table_args__ = (Index("ix_job_run_job_started_at", "job", "started_at"),)

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    job: str
    state: str
    started_at: datetime = moment()
    ended_at: datetime | None = moment(nullable=True)
    progress: float
    figures: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    log: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))


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
    first_seen: datetime = moment()
    last_seen: datetime = moment()
    looks: int
    present: bool
    recommendation: int | None = None


class RoundRow(SQLModel, table=True):
    """What a simulated fleet truly got under a release: known only where the truth is known, as in the demo."""

    __tablename__ = "fleet_round"

    release: int = Field(primary_key=True)
    figures: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    noted_at: datetime = moment()
