"""How often a password was tried."""

import sqlalchemy as sa
from alembic import op

revision = "0012_sign_in_attempts"
down_revision = "0011_people"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sign_in_attempt",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sign_in_attempt")),
    )


def downgrade() -> None:
    op.drop_table("sign_in_attempt")
