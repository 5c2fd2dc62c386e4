"""What the next release is made of, typed: policy documents and models, from the accepted revisions."""

from __future__ import annotations

from sqlmodel import Session

from policies.arm import ModelSpec
from policies.document import PolicyDocument
from policies.revision import Kind
from service.store.revisions import accepted_of


def all_models(session: Session) -> list[ModelSpec]:
    """Every accepted model, by app and name."""
    specs = [ModelSpec.model_validate(row.content) for row in accepted_of(session, Kind.MODEL)]
    return sorted(specs, key=lambda spec: (spec.app, spec.name))


def all_policies(session: Session) -> dict[str, PolicyDocument]:
    """The accepted policy documents by app."""
    return {row.subject: PolicyDocument.model_validate(row.content) for row in accepted_of(session, Kind.POLICY)}
