"""What people propose, keep and do: revisions, files, the audit log, keys of the API."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import ARRAY, BigInteger, Column, Computed, Index, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from service.store.tables.columns import JSONB_OR_NULL, moment

_APP_OF: Final = "CASE WHEN kind <> 'recommendation' THEN content ->> 'app' END"


class RevisionRow(SQLModel, table=True):
    """A proposal for what devices see. The database refuses changes of everything but its state and its review.

    `base` is the revision it edits; `self_approved` says that its author approved it, as the only user there was. `app`: whose
    it is, which the database takes from the content; None where it concerns all.
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
    created_at: datetime = moment()
    state: str
    reviewer: str | None = None
    reviewed_at: datetime | None = moment(nullable=True)
    review_note: str | None = None
    self_approved: bool = False
    app: str | None = Field(default=None, sa_column=Column(Text, Computed(_APP_OF, persisted=True)))


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
    graph: dict[str, Any] | None = Field(default=None, sa_column=Column(JSONB_OR_NULL))
    facts: dict[str, Any] | None = Field(default=None, sa_column=Column(JSONB_OR_NULL))
    uploaded_by: str
    uploaded_at: datetime = moment()


_ACT_WORDS: Final = "lower(actor || ' '::text || action || ' '::text || subject || ' '::text || detail)"


class AuditRow(SQLModel, table=True):
    """One act of management. Append-only: see `service.store.audit`. `words` are what a search looks at, made by the database."""

    __tablename__ = "audit"

    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    at: datetime = moment()
    actor: str
    action: str
    subject: str
    detail: str = Field(sa_column=Column(Text, nullable=False))
    previous_sha256: str
    sha256: str
    words: str | None = Field(default=None, sa_column=Column(Text(collation="C"), Computed(_ACT_WORDS, persisted=True)))


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
    created_at: datetime = moment()
    revoked_at: datetime | None = moment(nullable=True)
