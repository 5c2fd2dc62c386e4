"""People who are bound to apps, and the app of each revision as a column. Everybody there is keeps all apps."""

import sqlalchemy as sa
from alembic import op

revision = "0018_apps_of_people"
down_revision = "0017_rollup_heat"
branch_labels = None
depends_on = None

APP = "CASE WHEN kind <> 'recommendation' THEN content ->> 'app' END"


def upgrade() -> None:
    op.add_column("person", sa.Column("apps", sa.ARRAY(sa.Text()), nullable=True))
    op.create_check_constraint(op.f("ck_person_apps_named"), "person", "cardinality(apps) > 0")
    op.add_column("revision", sa.Column("app", sa.Text(), sa.Computed(APP, persisted=True), nullable=True))


def downgrade() -> None:
    # Who saw some apps only must not come to see all of them: without the column nobody could tell who that was.
    op.execute("DELETE FROM person_session USING person WHERE person.name = person_session.person AND apps IS NOT NULL")
    op.execute("UPDATE person SET disabled_at = coalesce(disabled_at, now()) WHERE apps IS NOT NULL")
    op.drop_column("revision", "app")
    op.drop_constraint(op.f("ck_person_apps_named"), "person")
    op.drop_column("person", "apps")
