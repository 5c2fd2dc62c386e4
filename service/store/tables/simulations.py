"""Simulations as they run."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Text
from sqlmodel import Field, SQLModel

from service.store.tables.columns import JSONB_OR_NULL, moment


class SimulationRunRow(SQLModel, table=True):
    """One simulation: how far it is, and what it found where somebody comes back for that.

    `app` is the one that it concerns, None for all; `revision` the one that it tries, None for what nobody saved. `why`: what
    went wrong.
    """

    __tablename__ = "simulation_run"

    number: int | None = Field(default=None, primary_key=True)
    state: str
    kind: str
    app: str | None = None
    revision: int | None = Field(default=None, index=True)
    asked_by: str
    started_at: datetime = moment()
    ended_at: datetime | None = moment(nullable=True)
    reports_done: int
    reports_total: int
    found: dict[str, Any] | None = Field(default=None, sa_column=Column(JSONB_OR_NULL))
    why: str | None = Field(default=None, sa_column=Column(Text))
