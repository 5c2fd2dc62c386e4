"""Rollups tell windows that do not say how hot the phone was from cool ones. Those of days rolled before count as cool."""

import sqlalchemy as sa
from alembic import op

revision = "0017_rollup_heat"
down_revision = "0016_rollup_doubts"
branch_labels = None
depends_on = None

TABLE, KEY = "observation_rollup", "pk_observation_rollup"
CELL = ("day", "device_class", "app", "model", "arm", "workload")
COUNTS = (
    "windows", "measured", "runs", "golden_checked", "golden_failed", "failed", "timed_out", "attempts", "crashed",
    "delegated_windows", "delegated_share_sum", "on_cpu", "split_windows", "partitions_sum", "error_windows",
    "log_error_sum", "loaded", "load_us_sum", "compiled", "compile_us_sum", "memory_windows", "log_memory_sum",
    "non_finite", "too_good",
)  # fmt: skip
HISTOGRAMS = ("latency_buckets", "latency_counts", "p50_buckets", "p50_counts")


def upgrade() -> None:
    op.add_column(TABLE, sa.Column("heat", sa.String(), nullable=False, server_default="cool"))
    op.execute(f"UPDATE {TABLE} SET heat = 'hot' WHERE hot")  # noqa: S608 -- constants of this file
    op.alter_column(TABLE, "heat", server_default=None)
    op.drop_constraint(KEY, TABLE)
    op.create_primary_key(KEY, TABLE, [*CELL, "heat"])
    op.drop_column(TABLE, "hot")


def downgrade() -> None:
    """Windows that do not say count as cool again. A bucket may stand in a histogram twice: readers add them up."""
    merged = [f"{name} = cool.{name} + unknown.{name}" for name in COUNTS]
    merged += [f"{name} = cool.{name} || unknown.{name}" for name in HISTOGRAMS]
    same = " AND ".join(f"cool.{name} = unknown.{name}" for name in CELL)
    same += " AND cool.heat = 'cool' AND unknown.heat = 'unknown'"
    op.execute(f"UPDATE {TABLE} cool SET {', '.join(merged)} FROM {TABLE} unknown WHERE {same}")  # noqa: S608
    op.execute(f"DELETE FROM {TABLE} unknown USING {TABLE} cool WHERE {same}")  # noqa: S608
    op.add_column(TABLE, sa.Column("hot", sa.Boolean(), nullable=False, server_default="false"))
    op.execute(f"UPDATE {TABLE} SET hot = true WHERE heat = 'hot'")  # noqa: S608
    op.alter_column(TABLE, "hot", server_default=None)
    op.drop_constraint(KEY, TABLE)
    op.create_primary_key(KEY, TABLE, [*CELL, "hot"])
    op.drop_column(TABLE, "heat")
