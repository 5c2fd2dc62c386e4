"""What the next release is made of, typed: policy documents and models, from the accepted revisions."""

from __future__ import annotations

from sqlmodel import Session, col, select

from policies.model import ModelSpec
from policies.revision import ACCEPTED, Kind
from service.store.revisions import accepted_of
from service.store.tables import RevisionRow


def all_models(session: Session) -> list[ModelSpec]:
    """Every accepted model, by app and name."""
    specs = [ModelSpec.model_validate(row.content) for row in accepted_of(session, Kind.MODEL)]
    return sorted(specs, key=lambda spec: (spec.app, spec.name))


def names(session: Session) -> set[tuple[str, str]]:
    """(app, name) of every accepted model; what they are made of stays in the database."""
    subjects = select(RevisionRow.subject).where(RevisionRow.kind == Kind.MODEL, col(RevisionRow.state).in_(ACCEPTED))
    return {(app, name) for app, _, name in (subject.partition("/") for subject in session.exec(subjects))}
