"""Rollouts, releases with two sides, and the side that an observation was made on."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005_rollouts"
down_revision = "0004_revisions"
branch_labels = None
depends_on = None

_JSONB = postgresql.JSONB(astext_type=sa.Text())
_CONTENT = ["release_content.sha256"]


def upgrade() -> None:
    op.create_table(
        "rollout",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("plan", _JSONB, nullable=False),
        sa.Column("control_sha256", sa.String(), nullable=False),
        sa.Column("control_revisions", sa.ARRAY(sa.Integer()), nullable=False),
        sa.Column("candidate_sha256", sa.String(), nullable=False),
        sa.Column("candidate_revisions", sa.ARRAY(sa.Integer()), nullable=False),
        sa.Column("cohorts", _JSONB, nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("step_release", sa.Integer(), nullable=False),
        sa.Column("step_started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("judgement", _JSONB, nullable=True),
        sa.Column("timeline", _JSONB, nullable=False),
        sa.ForeignKeyConstraint(["control_sha256"], _CONTENT, name=op.f("fk_rollout_control_sha256_release_content")),
        sa.ForeignKeyConstraint(
            ["candidate_sha256"], _CONTENT, name=op.f("fk_rollout_candidate_sha256_release_content")
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_rollout")),
    )
    op.add_column("release", sa.Column("candidate_sha256", sa.String(), nullable=True))
    op.add_column("release", sa.Column("share_bp", sa.Integer(), nullable=True))
    op.add_column("release", sa.Column("rollout", sa.Integer(), nullable=True))
    op.create_foreign_key(
        op.f("fk_release_candidate_sha256_release_content"),
        "release",
        "release_content",
        ["candidate_sha256"],
        ["sha256"],
    )
    op.add_column("observation", sa.Column("side", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("observation", "side")
    op.drop_constraint(op.f("fk_release_candidate_sha256_release_content"), "release", type_="foreignkey")
    for column in ("rollout", "share_bp", "candidate_sha256"):
        op.drop_column("release", column)
    op.drop_table("rollout")
