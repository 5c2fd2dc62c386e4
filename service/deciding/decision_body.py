"""The decision document of one device class under one release, as bytes: in a rollout, with both sides in it."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from policies.decide import Decision, decide
from policies.errors import UnknownApp
from policies.fingerprint import Fingerprint
from policies.rollouts.staging import staged
from policies.wire import encoded, expires_at, to_wire
from service.deciding.decision_file import SignedBody
from service.deciding.signing import SigningKeys
from service.releasing.release_content import ReleaseContent


def decision(content: ReleaseContent, app: str, facts: Fingerprint) -> Decision:
    """What the release decides for a device, in a rollout for those who wait; raises UnknownApp."""
    document = content.documents.get(app)
    if document is None:
        raise UnknownApp(f"release {content.number} has no app {app!r}", field="app")
    return decide(facts, document, content.models.get(app, ()), content.knowledge(facts.driver_stack, app))


def decision_body(content: ReleaseContent, app: str, facts: Fingerprint) -> bytes:
    """The document's bytes; raises UnknownApp. An app that only the candidate has waits for the rollout's end."""
    control = _document(content, app, facts)
    stage = content.staged
    if stage is None or app not in stage.candidate.documents:
        return encoded(control)
    return encoded(staged(control, _document(stage.candidate, app, facts), stage.share_bp))


def signed_body(
    content: ReleaseContent, app: str, report_id: str, facts: Fingerprint, keys: SigningKeys | None
) -> SignedBody:
    """The document for a report, signed where the installation has keys; raises UnknownApp."""
    body = decision_body(content, app, facts)
    digest = sha256(body).hexdigest()
    if keys is None:
        return SignedBody(body, digest, "")
    expiry = expires_at(content.documents[app], content.published_at)
    return SignedBody(body, digest, keys.sign(report_id, digest, content.number, expiry))


def _document(content: ReleaseContent, app: str, facts: Fingerprint) -> dict[str, Any]:
    decided = decision(content, app, facts)
    return to_wire(decided, content.documents[app], content.number, content.published_at)
