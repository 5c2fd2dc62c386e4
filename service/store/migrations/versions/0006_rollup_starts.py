"""Rollups also hold what starts cost, who executed, pieces, and the error of outputs. Days rolled before hold zeros."""

import sqlalchemy as sa
from alembic import op

revision = "0006_rollup_starts"
down_revision = "0005_rollouts"
branch_labels = None
depends_on = None

COUNTS = (
    "on_cpu", "split_windows", "partitions_sum", "error_windows", "loaded", "load_us_sum", "compiled", "compile_us_sum",
)  # fmt: skip


def upgrade() -> None:
    for name in COUNTS:
        op.add_column("observation_rollup", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
        op.alter_column("observation_rollup", name, server_default=None)
    op.add_column("observation_rollup", sa.Column("log_error_sum", sa.Float(), nullable=False, server_default="0"))
    op.alter_column("observation_rollup", "log_error_sum", server_default=None)


def downgrade() -> None:
    for name in (*COUNTS, "log_error_sum"):
        op.drop_column("observation_rollup", name)
