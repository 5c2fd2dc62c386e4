"""Rollouts that begin at a stated time. Going back, those that have not begun are aborted: nobody would begin them."""

import sqlalchemy as sa
from alembic import op

revision = "0019_schedules"
down_revision = "0018_apps_of_people"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("rollout", sa.Column("starts_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("rollout", sa.Column("zone", sa.String(), nullable=True))
    op.alter_column("rollout", "started_at", nullable=True)


def downgrade() -> None:
    op.execute("UPDATE rollout SET state = 'aborted', ended_at = coalesce(ended_at, now()) WHERE state = 'scheduled'")
    op.execute("UPDATE rollout SET started_at = coalesce(started_at, step_started_at)")
    op.alter_column("rollout", "started_at", nullable=False)
    op.drop_column("rollout", "zone")
    op.drop_column("rollout", "starts_at")
