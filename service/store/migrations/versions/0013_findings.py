"""Findings as rows, with when each was seen first and last; what was measured of each arm; words of acts, for a search."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013_findings"
down_revision = "0012_sign_in_attempts"
branch_labels = None
depends_on = None

ACT_WORDS = "lower(actor || ' '::text || action || ' '::text || subject || ' '::text || detail)"


def upgrade() -> None:
    op.create_table(
        "finding",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("soc", sa.String(), nullable=False),
        sa.Column("windows", sa.BigInteger(), nullable=False),
        sa.Column("content", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("looks", sa.Integer(), nullable=False),
        sa.Column("present", sa.Boolean(), nullable=False),
        sa.Column("recommendation", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_finding")),
    )
    counts = (
        "device_classes", "windows", "delegated_windows", "failed", "timed_out", "golden_checked", "golden_failed",
        "attempts", "crashed",
    )  # fmt: skip
    op.create_table(
        "arm_tally",
        *(sa.Column(name, sa.String(), nullable=False) for name in ("app", "model", "arm")),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in counts),
        sa.Column("delegated_share_sum", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("app", "model", "arm", name=op.f("pk_arm_tally")),
    )
    words = sa.Column("words", sa.Text(collation="C"), sa.Computed(ACT_WORDS, persisted=True), nullable=True)
    op.add_column("audit", words)


def downgrade() -> None:
    op.drop_column("audit", "words")
    op.drop_table("arm_tally")
    op.drop_table("finding")
