"""Views of the database that pages read: what is accepted, out of all the revisions there ever were."""

from __future__ import annotations

from typing import Final

from sqlalchemy import column, table
from sqlalchemy.dialects.postgresql import JSONB

ACCEPTED_MODEL: Final = table(
    "accepted_model", column("app"), column("name"), column("spec", JSONB), column("updated_at")
)
"""The newest accepted revision of each model."""
