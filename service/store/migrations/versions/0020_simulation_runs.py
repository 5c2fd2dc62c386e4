"""Simulations as they run: how far each is, and what it found."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0020_simulation_runs"
down_revision = "0019_schedules"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "simulation_run",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("app", sa.String(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=True),
        sa.Column("asked_by", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reports_done", sa.Integer(), nullable=False),
        sa.Column("reports_total", sa.Integer(), nullable=False),
        sa.Column("found", postgresql.JSONB(), nullable=True),
        sa.Column("why", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_simulation_run")),
    )
    op.create_index(op.f("ix_simulation_run_revision"), "simulation_run", ["revision"])


def downgrade() -> None:
    op.drop_table("simulation_run")
