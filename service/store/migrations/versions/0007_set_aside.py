"""Find what was set aside without reading all that was not."""

import sqlalchemy as sa
from alembic import op

revision = "0007_set_aside"
down_revision = "0006_rollup_starts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    believed_not = sa.text("set_aside IS NOT NULL")
    op.create_index("ix_observation_set_aside", "observation", ["received_at"], postgresql_where=believed_not)


def downgrade() -> None:
    op.drop_index("ix_observation_set_aside", "observation")
