"""Rollups also count outputs that were no numbers, and windows too fast to be believed. Days rolled before hold zeros."""

import sqlalchemy as sa
from alembic import op

revision = "0016_rollup_doubts"
down_revision = "0015_rollup_memory"
branch_labels = None
depends_on = None

COLUMNS = ("non_finite", "too_good")


def upgrade() -> None:
    for name in COLUMNS:
        op.add_column("observation_rollup", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
        op.alter_column("observation_rollup", name, server_default=None)


def downgrade() -> None:
    for name in COLUMNS:
        op.drop_column("observation_rollup", name)
