"""What the next release is made of, typed: policy documents and models, from the accepted revisions."""

from __future__ import annotations

from sqlmodel import Session, col, select

from policies.model import ModelSpec
from policies.revision import ACCEPTED, Kind, State
from service.store.revisions import accepted_of, in_state
from service.store.tables import RevisionRow


def all_models(session: Session) -> list[ModelSpec]:
    """Every accepted model, by app and name."""
    specs = [ModelSpec.model_validate(row.content) for row in accepted_of(session, Kind.MODEL)]
    return sorted(specs, key=lambda spec: (spec.app, spec.name))


def served_models(session: Session) -> list[ModelSpec]:
    """Every model that is live, and every one that is accepted: in a rollout, or before a release, these are not the same."""
    rows = [*in_state(session, Kind.MODEL, State.LIVE), *accepted_of(session, Kind.MODEL)]
    return [ModelSpec.model_validate(content) for content in {row.number: row.content for row in rows}.values()]


def names(session: Session) -> set[tuple[str, str]]:
    """(app, name) of every accepted model; what they are made of stays in the database."""
    subjects = select(RevisionRow.subject).where(RevisionRow.kind == Kind.MODEL, col(RevisionRow.state).in_(ACCEPTED))
    return {(app, name) for app, _, name in (subject.partition("/") for subject in session.exec(subjects))}
