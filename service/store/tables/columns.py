"""What all tables share: how constraints are named, and columns that come up again and again."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Column, DateTime, MetaData
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
JSONB_OR_NULL: Final = JSONB(none_as_null=True)
"""Absent is SQL's NULL, not the JSON value of that name, which `IS NULL` would miss."""


def moment(*, nullable: bool = False) -> Any:
    """A moment with its zone."""
    return Field(sa_column=Column(DateTime(timezone=True), nullable=nullable))
