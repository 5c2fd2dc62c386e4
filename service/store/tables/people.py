"""Tables of people and of their sessions. A table class validates nothing."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ARRAY, CheckConstraint, Column, ForeignKey, Index, Text, text
from sqlmodel import Field, SQLModel

from service.store.tables.columns import moment


class PersonRow(SQLModel, table=True):
    """Somebody who may sign in to the console. Never deleted: revisions and the audit log know people by name.

    `apps`: the only ones they see and change; None for all. `password_hash` is argon2's own text, None for who signs in
    elsewhere: then `issuer` and `subject` say who it is there.
    """

    __tablename__ = "person"
    __table_args__ = (
        Index(
            "uq_person_issuer_subject", "issuer", "subject", unique=True, postgresql_where=text("issuer IS NOT NULL")
        ),
        CheckConstraint("cardinality(apps) > 0", name="apps_named"),
    )

    name: str = Field(primary_key=True)
    role: str
    apps: list[str] | None = Field(default=None, sa_column=Column(ARRAY(Text)))
    password_hash: str | None = None
    issuer: str | None = None
    subject: str | None = None
    created_at: datetime = moment()
    disabled_at: datetime | None = moment(nullable=True)


class SignInAttemptRow(SQLModel, table=True):
    """How often a password was tried for a name since it was last right, whoever has the name."""

    __tablename__ = "sign_in_attempt"

    name: str = Field(primary_key=True)
    attempts: int
    last_at: datetime = moment()


class PersonSessionRow(SQLModel, table=True):
    """Somebody signed in, in one browser. Of the id that its cookie carries, only the sha256 is kept."""

    __tablename__ = "person_session"

    id_sha256: str = Field(primary_key=True)
    person: str = Field(sa_column=Column(ForeignKey("person.name"), nullable=False, index=True))
    agent: str = Field(sa_column=Column(Text, nullable=False))
    started_at: datetime = moment()
    seen_at: datetime = moment()
