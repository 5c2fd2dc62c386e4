"""The queue of the worker: procrastinate's tables, in a schema of their own."""

from alembic import op
from procrastinate.schema import SchemaManager

revision = "0003_jobs"
down_revision = "0002_partitions"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    before = connection.exec_driver_sql("SHOW search_path").scalar_one()
    op.execute("CREATE SCHEMA jobs")
    op.execute("SET LOCAL search_path TO jobs")
    # By the driver itself, without parameters: the text holds percent signs of its own.
    cursor = connection.connection.cursor()
    cursor.execute(SchemaManager.get_schema())
    cursor.close()
    op.execute(f"SET LOCAL search_path TO {before}")


def downgrade() -> None:
    op.execute("DROP SCHEMA jobs CASCADE")
