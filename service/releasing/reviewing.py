"""What is said about a revision before it is decided. Each act is a row of the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlmodel import Session

from policies.errors import InvalidField
from service.store import audit, reviews, revisions
from service.store.tables import RevisionRow

MOST_CHARACTERS: Final = 4_000


def comment(session: Session, number: int, text: str, author: str, now: datetime) -> RevisionRow:
    """Say something about a revision, in whatever state it is; raises UnknownRevision, and InvalidField for nothing."""
    row = revisions.revision(session, number)
    if not 1 <= len(text) <= MOST_CHARACTERS:
        raise InvalidField(f"a comment has 1 to {MOST_CHARACTERS:,} characters", field="text", limit=MOST_CHARACTERS)
    reviews.add_comment(session, number, author, text, now)
    audit.append(session, now, author, "revision-commented", f"{row.kind}:{row.subject}", revision=number)
    return row


def keep_simulation(session: Session, row: RevisionRow, found: dict[str, Any], asked_by: str, now: datetime) -> None:
    """Keep what a simulation of the revision found, for whoever decides."""
    if row.number is None:
        raise RuntimeError("a revision that is not stored has no evidence")
    reviews.add_simulation(session, row.number, asked_by, found, now)
    changed = sum(count["reports"] for count in found["changed"].values())
    audit.append(
        session, now, asked_by, "revision-simulated", f"{row.kind}:{row.subject}", revision=row.number,
        release=found["release"], reports=found["seen"]["reports"], changed=changed, sampled=found["sampled"],
    )  # fmt: skip
