"""Registered models and the policy documents of their apps."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, select

from policies.arm import ModelSpec
from policies.document import PolicyDocument
from service.store.tables import ModelRow, PolicyRow


def put_model(session: Session, spec: ModelSpec, now: datetime) -> None:
    """Register the model, or replace its registration."""
    row = {"spec": spec.model_dump(mode="json"), "updated_at": now}
    statement = insert(ModelRow).values(app=spec.app, name=spec.name, **row)
    session.execute(statement.on_conflict_do_update(index_elements=["app", "name"], set_=row))


def put_policy(session: Session, document: PolicyDocument, now: datetime) -> None:
    """Store the app's policy document, or replace it."""
    row = {"document": document.model_dump(mode="json", by_alias=True), "updated_at": now}
    statement = insert(PolicyRow).values(app=document.app, **row)
    session.execute(statement.on_conflict_do_update(index_elements=["app"], set_=row))


def all_models(session: Session) -> list[ModelSpec]:
    """Every registered model, by app and name."""
    rows = session.exec(select(ModelRow.spec).order_by(col(ModelRow.app), col(ModelRow.name)))
    return [ModelSpec.model_validate(spec) for spec in rows]


def all_policies(session: Session) -> dict[str, PolicyDocument]:
    """The policy documents by app."""
    rows = session.exec(select(PolicyRow.document).order_by(col(PolicyRow.app)))
    return {document["app"]: PolicyDocument.model_validate(document) for document in rows}
