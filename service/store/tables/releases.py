"""What devices see: releases with their content, rollouts, and the rankings that go into them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, Column, Integer, LargeBinary, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from service.store.tables.columns import JSONB_OR_NULL, moment


class RecommendationRow(SQLModel, table=True):
    """Rankings of one learning run, compressed; the newest one goes into the next release."""

    __tablename__ = "recommendation"

    id: int | None = Field(default=None, primary_key=True)
    made_at: datetime = moment()
    figures: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    rankings: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


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
    published_at: datetime = moment()
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

    `starts_at`, `zone`: the moment that it was scheduled for, and whose clocks people stated it by; None for one that began
    at once. `started_at` is None before it has. `cohorts`: the SoCs and models there were at its start. `judgement`: what the guard made of it last. `timeline`:
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
    step_started_at: datetime = moment()
    started_at: datetime | None = moment(nullable=True)
    starts_at: datetime | None = moment(nullable=True)
    zone: str | None = None
    ended_at: datetime | None = moment(nullable=True)
    judgement: dict[str, Any] | None = Field(default=None, sa_column=Column(JSONB_OR_NULL))
    timeline: list[dict[str, Any]] = Field(sa_column=Column(JSONB, nullable=False))
