"""Policies, models and recommendations become revisions; the audit log and keys come; releases share their content."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004_revisions"
down_revision = "0003_jobs"
branch_labels = None
depends_on = None

_JSONB = postgresql.JSONB(astext_type=sa.Text())

_REFUSE = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP; END $$
"""
_GUARDS = (
    "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_change()",
    "CREATE TRIGGER never_emptied BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
    "CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON release FOR EACH ROW EXECUTE FUNCTION refuse_change()",
    "CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON release_content FOR EACH ROW EXECUTE FUNCTION refuse_change()",
    "CREATE TRIGGER immutable BEFORE UPDATE OF number, kind, subject, content, base, note, author, created_at"
    " ON revision FOR EACH ROW EXECUTE FUNCTION refuse_change()",
    "CREATE TRIGGER kept BEFORE DELETE ON revision FOR EACH ROW EXECUTE FUNCTION refuse_change()",
)
_ACCEPTED_MODELS = """
CREATE VIEW accepted_model AS
SELECT DISTINCT ON (subject) content->>'app' AS app, content->>'name' AS name, content AS spec, created_at AS updated_at
FROM revision WHERE kind = 'model' AND state IN ('approved', 'live') ORDER BY subject, number DESC
"""
# What was stated before there were reviews counts as approved: the next release makes it live.
_TO_REVISIONS = """
INSERT INTO revision (kind, subject, content, note, author, created_at, state, self_approved)
SELECT kind, subject, content, 'stated before there were reviews', 'migration', at, 'approved', false FROM (
    SELECT 1 AS part, 'policy' AS kind, app AS subject, document AS content, updated_at AS at FROM policy
    UNION ALL SELECT 2, 'model', app || '/' || name, spec, updated_at FROM model
    UNION ALL SELECT 3, 'recommendation', 'rankings', jsonb_build_object('recommendation', id), made_at
        FROM recommendation WHERE id = (SELECT max(id) FROM recommendation)
) AS stated ORDER BY part, subject
"""
_FROM_REVISIONS = (
    "INSERT INTO policy SELECT DISTINCT ON (subject) subject, content, created_at FROM revision"
    " WHERE kind = 'policy' AND state IN ('approved', 'live') ORDER BY subject, number DESC",
    "INSERT INTO model SELECT app, name, spec, updated_at FROM accepted_model",
)


def upgrade() -> None:
    op.create_table(
        "api_key",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("secret_sha256", sa.String(), nullable=False),
        sa.Column("scopes", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("role", sa.String(), nullable=True),
        sa.Column("app", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_api_key")),
        sa.UniqueConstraint("secret_sha256", name=op.f("uq_api_key_secret_sha256")),
    )
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("previous_sha256", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit")),
    )
    op.create_table(
        "revision",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("content", _JSONB, nullable=False),
        sa.Column("base", sa.Integer(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reviewer", sa.String(), nullable=True),
        sa.Column("reviewed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("review_note", sa.String(), nullable=True),
        sa.Column("self_approved", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_revision")),
    )
    op.create_index("ix_revision_subject", "revision", ["kind", "subject", "number"], unique=False)
    for statement in (_TO_REVISIONS, _ACCEPTED_MODELS):
        op.execute(statement)
    op.drop_table("policy")
    op.drop_table("model")
    _share_contents()
    for statement in (_REFUSE, *_GUARDS):
        op.execute(statement)


def _share_contents() -> None:
    op.create_table(
        "release_content",
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_release_content")),
    )
    op.execute("INSERT INTO release_content SELECT DISTINCT ON (content_sha256) content_sha256, content FROM release")
    op.drop_column("release", "content")
    for column, default in (
        (sa.Column("author", sa.String(), nullable=False, server_default="migration"), "author"),
        (sa.Column("revisions", sa.ARRAY(sa.Integer()), nullable=False, server_default="{}"), "revisions"),
        (sa.Column("quarantines", _JSONB, nullable=False, server_default="[]"), "quarantines"),
        (sa.Column("diff", _JSONB, nullable=False, server_default="[]"), "diff"),
    ):
        op.add_column("release", column)
        op.alter_column("release", default, server_default=None)
    op.create_foreign_key(
        op.f("fk_release_content_sha256_release_content"), "release", "release_content", ["content_sha256"], ["sha256"]
    )


def downgrade() -> None:
    op.create_table(
        "policy",
        sa.Column("app", sa.String(), nullable=False),
        sa.Column("document", _JSONB, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("app", name=op.f("pk_policy")),
    )
    op.create_table(
        "model",
        sa.Column("app", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("spec", _JSONB, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("app", "name", name=op.f("pk_model")),
    )
    for statement in _FROM_REVISIONS:
        op.execute(statement)
    op.execute("DROP FUNCTION refuse_change() CASCADE")
    op.add_column("release", sa.Column("content", sa.LargeBinary(), nullable=True))
    op.execute(
        "UPDATE release SET content = release_content.content FROM release_content WHERE sha256 = content_sha256"
    )
    op.alter_column("release", "content", nullable=False)
    op.drop_constraint(op.f("fk_release_content_sha256_release_content"), "release", type_="foreignkey")
    for column in ("diff", "quarantines", "revisions", "author"):
        op.drop_column("release", column)
    op.drop_table("release_content")
    op.execute("DROP VIEW accepted_model")
    op.drop_table("revision")
    op.drop_table("audit")
    op.drop_table("api_key")
