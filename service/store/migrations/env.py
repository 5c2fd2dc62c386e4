"""Alembic's entry: runs the migrations on the connection that `service.store.schema` hands over."""

from typing import Literal

from alembic import context
from sqlmodel import AutoString

from service.store import schema, tables


def _plain_string(kind: str, item: object, _autogen: object) -> str | Literal[False]:
    """SQLModel's own string type is a plain string to the database: migrations name only SQLAlchemy's types."""
    return "sa.String()" if kind == "type" and isinstance(item, AutoString) else False


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=tables.metadata,
    compare_type=True,
    include_name=schema.ours,
    render_item=_plain_string,
)
with context.begin_transaction():
    context.run_migrations()
