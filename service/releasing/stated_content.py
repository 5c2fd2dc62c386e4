"""What an operator states, parsed once: its kind, its subject, and its content as a revision keeps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlmodel import Session

from policies.document import PolicyDocument
from policies.document_text import POLICY
from policies.errors import InvalidField
from policies.flags import FlagDocument
from policies.quarantine import parse_quarantine
from policies.revision import Kind
from policies.validation import validated
from service.artifacts.declared import model_spec

Stated = tuple[Kind, str, dict[str, Any]]
"""(kind, subject, content)."""


def stated_content(session: Session, kind: object, raw: Any) -> Stated:
    """The content in a JSON value; raises InvalidField for a kind that nobody states by hand, and for what is wrong.

    What a model's files tell is filled in.
    """
    known = next((known for known in STATED_KINDS if known == kind), None)
    if known is None:
        raise InvalidField(f"kind: one of {', '.join(STATED_KINDS)}", field="kind")
    return known, *_PARSERS[known](session, raw)


def policy_content(document: PolicyDocument) -> dict[str, Any]:
    """A policy as a revision keeps it."""
    return document.model_dump(mode="json", by_alias=True)


def _policy(_session: Session, raw: Any) -> tuple[str, dict[str, Any]]:
    document = POLICY.parse(raw)
    return document.app, policy_content(document)


def _model(session: Session, raw: Any) -> tuple[str, dict[str, Any]]:
    spec = model_spec(session, raw)
    return f"{spec.app}/{spec.name}", spec.model_dump(mode="json")


def _quarantine(_session: Session, raw: Any) -> tuple[str, dict[str, Any]]:
    held = parse_quarantine(raw)
    return held.deny.id, held.model_dump(mode="json")


def _flags(_session: Session, raw: Any) -> tuple[str, dict[str, Any]]:
    document = validated(FlagDocument, raw)
    return document.app, document.model_dump(mode="json", by_alias=True)


_PARSERS: Final[dict[Kind, Callable[[Session, Any], tuple[str, dict[str, Any]]]]] = {
    Kind.POLICY: _policy,
    Kind.MODEL: _model,
    Kind.QUARANTINE: _quarantine,
    Kind.FLAGS: _flags,
}
STATED_KINDS: Final = tuple(_PARSERS)
