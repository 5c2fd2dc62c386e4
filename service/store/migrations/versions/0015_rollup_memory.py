"""Rollups also hold the memory that windows took. Days rolled before hold zeros."""

import sqlalchemy as sa
from alembic import op

revision = "0015_rollup_memory"
down_revision = "0014_reviews"
branch_labels = None
depends_on = None

COLUMNS = (("memory_windows", sa.BigInteger), ("log_memory_sum", sa.Float))


def upgrade() -> None:
    for name, kind in COLUMNS:
        op.add_column("observation_rollup", sa.Column(name, kind(), nullable=False, server_default="0"))
        op.alter_column("observation_rollup", name, server_default=None)


def downgrade() -> None:
    for name, _ in COLUMNS:
        op.drop_column("observation_rollup", name)
