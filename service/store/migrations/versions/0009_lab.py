"""Measurements of labs, and the devices that they measured."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009_lab"
down_revision = "0008_class_facts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "lab_device",
        sa.Column("device_class", sa.Text(), nullable=False),
        sa.Column("fingerprint", postgresql.JSONB(), nullable=False),
        sa.Column("first_imported", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("device_class", name=op.f("pk_lab_device")),
    )
    op.create_table(
        "lab_measurement",
        sa.Column("measurement_id", sa.Text(), nullable=False),
        sa.Column("file_sha256", sa.String(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("set_aside", sa.String(), nullable=True),
        sa.Column("device_class", sa.String(), nullable=False),
        sa.Column("app", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("arm", sa.String(), nullable=True),
        sa.Column("asked_delegate", sa.String(), nullable=True),
        sa.Column("asked_accelerator", sa.String(), nullable=True),
        sa.Column("executed_by", sa.String(), nullable=False),
        sa.Column("delegated_nodes", sa.Integer(), nullable=True),
        sa.Column("total_nodes", sa.Integer(), nullable=True),
        sa.Column("partitions", sa.Integer(), nullable=True),
        sa.Column("runs", sa.BigInteger(), nullable=True),
        sa.Column("latency_us", sa.Float(), nullable=False),
        sa.Column("min_us", sa.Float(), nullable=True),
        sa.Column("max_us", sa.Float(), nullable=True),
        sa.Column("init_us", sa.Float(), nullable=True),
        sa.Column("first_run_us", sa.Float(), nullable=True),
        sa.Column("memory_peak_kb", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["device_class"], ["lab_device.device_class"], name=op.f("fk_lab_measurement_device_class_lab_device")
        ),
        sa.PrimaryKeyConstraint("measurement_id", name=op.f("pk_lab_measurement")),
    )
    op.create_index(op.f("ix_lab_measurement_device_class"), "lab_measurement", ["device_class"])


def downgrade() -> None:
    op.drop_table("lab_measurement")
    op.drop_table("lab_device")
