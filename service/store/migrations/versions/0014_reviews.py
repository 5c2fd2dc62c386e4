"""What is said about a revision before it is decided: comments and simulations."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0014_reviews"
down_revision = "0013_findings"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "revision_comment",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["revision"], ["revision.number"], name=op.f("fk_revision_comment_revision_revision")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revision_comment")),
    )
    op.create_index(op.f("ix_revision_comment_revision"), "revision_comment", ["revision"])
    op.create_table(
        "revision_simulation",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("asked_by", sa.String(), nullable=False),
        sa.Column("found", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision"], ["revision.number"], name=op.f("fk_revision_simulation_revision_revision")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revision_simulation")),
    )
    op.create_index(op.f("ix_revision_simulation_revision"), "revision_simulation", ["revision"])


def downgrade() -> None:
    op.drop_table("revision_simulation")
    op.drop_table("revision_comment")
