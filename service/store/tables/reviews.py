"""What people and the service say about a revision before it is decided."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, ForeignKey, Identity, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from service.store.tables.columns import moment


def _id() -> Any:
    return Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))


def _revision() -> Any:
    return Field(sa_column=Column(ForeignKey("revision.number"), nullable=False, index=True))


class RevisionCommentRow(SQLModel, table=True):
    """Something that somebody said about a revision. Never changed, never deleted."""

    __tablename__ = "revision_comment"

    id: int | None = _id()
    revision: int = _revision()
    at: datetime = moment()
    author: str
    text: str = Field(sa_column=Column(Text, nullable=False))


class RevisionSimulationRow(SQLModel, table=True):
    """What a revision would have changed on the fleet of that moment: evidence for whoever decides."""

    __tablename__ = "revision_simulation"

    id: int | None = _id()
    revision: int = _revision()
    at: datetime = moment()
    asked_by: str
    found: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
