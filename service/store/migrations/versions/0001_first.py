"""First tables: classes, reports, models, policies, recommendations, releases, observations."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001_first"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "device_class",
        sa.Column("device_class", sa.Text(), nullable=False),
        sa.Column("fingerprint", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("learnable", sa.Boolean(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("device_class", name=op.f("pk_device_class")),
    )
    op.create_table(
        "fleet_round",
        sa.Column("release", sa.Integer(), nullable=False),
        sa.Column("figures", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("noted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("release", name=op.f("pk_fleet_round")),
    )
    op.create_table(
        "model",
        sa.Column("app", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("spec", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("app", "name", name=op.f("pk_model")),
    )
    op.create_table(
        "observation",
        sa.Column("record_id", sa.Uuid(), nullable=False),
        sa.Column("payload_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("set_aside", sa.String(), nullable=True),
        sa.Column("set_aside_payload", sa.LargeBinary(), nullable=True),
        sa.Column("report_id", sa.String(), nullable=False),
        sa.Column("device_class", sa.String(), nullable=False),
        sa.Column("app", sa.String(), nullable=False),
        sa.Column("release", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("arm", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("plan", sa.String(), nullable=True),
        sa.Column("propensity", sa.Float(), nullable=True),
        sa.Column("workload", sa.String(), nullable=True),
        sa.Column("requested_delegate", sa.String(), nullable=True),
        sa.Column("requested_accelerator", sa.String(), nullable=True),
        sa.Column("executed_by", sa.String(), nullable=True),
        sa.Column("delegated_nodes", sa.Integer(), nullable=True),
        sa.Column("total_nodes", sa.Integer(), nullable=True),
        sa.Column("partitions", sa.Integer(), nullable=True),
        sa.Column("load_us", sa.BigInteger(), nullable=True),
        sa.Column("compile_us", sa.BigInteger(), nullable=True),
        sa.Column("cache_hit", sa.Boolean(), nullable=True),
        sa.Column("first_run_us", sa.BigInteger(), nullable=True),
        sa.Column("run_count", sa.Integer(), nullable=True),
        sa.Column("errors", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("timeouts", sa.Integer(), nullable=True),
        sa.Column("fallbacks", sa.Integer(), nullable=True),
        sa.Column("latency_min_us", sa.BigInteger(), nullable=True),
        sa.Column("latency_p50_us", sa.Float(), nullable=True),
        sa.Column("latency_p90_us", sa.Float(), nullable=True),
        sa.Column("latency_max_us", sa.BigInteger(), nullable=True),
        sa.Column("latency_sum_us", sa.BigInteger(), nullable=True),
        sa.Column("histogram_buckets", sa.ARRAY(sa.Integer()), nullable=True),
        sa.Column("histogram_counts", sa.ARRAY(sa.Integer()), nullable=True),
        sa.Column("conditions", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("thermal_after", sa.Integer(), nullable=True),
        sa.Column("golden_checks", sa.Integer(), nullable=True),
        sa.Column("golden_passed", sa.Integer(), nullable=True),
        sa.Column("golden_max_rel_error", sa.Float(), nullable=True),
        sa.Column("attempt_id", sa.Uuid(), nullable=True),
        sa.Column("memory_peak_kb", sa.BigInteger(), nullable=True),
        sa.Column("device_time", sa.DateTime(timezone=True), nullable=True),
        sa.Column("monotonic_ms", sa.BigInteger(), nullable=True),
        sa.Column("clock_skew_s", sa.Float(), nullable=True),
        sa.Column("sdk", sa.String(), nullable=True),
        sa.Column("app_version", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("record_id", name=op.f("pk_observation")),
    )
    op.create_index(op.f("ix_observation_attempt_id"), "observation", ["attempt_id"], unique=False)
    op.create_index("ix_observation_learn", "observation", ["device_class", "app", "model", "arm"], unique=False)
    op.create_index("ix_observation_received_at", "observation", ["received_at"], unique=False, postgresql_using="brin")
    op.create_table(
        "policy",
        sa.Column("app", sa.String(), nullable=False),
        sa.Column("document", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("app", name=op.f("pk_policy")),
    )
    op.create_table(
        "recommendation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("figures", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("rankings", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recommendation")),
    )
    op.create_table(
        "release",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_release")),
    )
    op.create_table(
        "report",
        sa.Column("report_id", sa.Text(), nullable=False),
        sa.Column("device_class", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["device_class"], ["device_class.device_class"], name=op.f("fk_report_device_class_device_class")
        ),
        sa.PrimaryKeyConstraint("report_id", name=op.f("pk_report")),
    )
    op.create_index(op.f("ix_report_device_class"), "report", ["device_class"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_report_device_class"), table_name="report")
    op.drop_table("report")
    op.drop_table("release")
    op.drop_table("recommendation")
    op.drop_table("policy")
    op.drop_index("ix_observation_received_at", table_name="observation", postgresql_using="brin")
    op.drop_index("ix_observation_learn", table_name="observation")
    op.drop_index(op.f("ix_observation_attempt_id"), table_name="observation")
    op.drop_table("observation")
    op.drop_table("model")
    op.drop_table("fleet_round")
    op.drop_table("device_class")
