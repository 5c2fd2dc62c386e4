"""People and their sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0011_people"
down_revision = "0010_artifacts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "person",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("issuer", sa.String(), nullable=True),
        sa.Column("subject", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_person")),
    )
    elsewhere = sa.text("issuer IS NOT NULL")
    op.create_index(
        "uq_person_issuer_subject", "person", ["issuer", "subject"], unique=True, postgresql_where=elsewhere
    )
    op.create_table(
        "person_session",
        sa.Column("id_sha256", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name=op.f("fk_person_session_person_person")),
        sa.PrimaryKeyConstraint("id_sha256", name=op.f("pk_person_session")),
    )
    op.create_index(op.f("ix_person_session_person"), "person_session", ["person"])


def downgrade() -> None:
    op.drop_table("person_session")
    op.drop_table("person")
