"""Files that are kept, and what was read from them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010_artifacts"
down_revision = "0009_lab"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "artifact",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("format", sa.String(), nullable=True),
        sa.Column("precision", sa.String(), nullable=True),
        sa.Column("graph", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("facts", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("uploaded_by", sa.String(), nullable=False),
        sa.Column("uploaded_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_artifact")),
    )


def downgrade() -> None:
    op.drop_table("artifact")
