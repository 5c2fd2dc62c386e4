"""The wall clock of the service: the one place that reads it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)
