"""What of the fleet is the visitor's: of the apps they are bound to, and of none where they have all."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, or_, true
from sqlmodel import Session

from policies.errors import UnknownRevision
from service.artifacts.store import UnknownArtifact
from service.console.visitor import visitor
from service.identity.actor import Actor, Role
from service.store import artifacts, revisions
from service.store.tables import ArtifactRow, RevisionRow

EVERYBODY: Final = Actor("", Role.VIEWER)
"""Who reads an open console without signing in."""


def reader() -> Actor:
    """Who looks at a page."""
    found = visitor()
    return found.actor if found else EVERYBODY


def own_apps() -> frozenset[str] | None:
    """The visitor's apps; None where they have all."""
    return reader().apps


def of_own(app: ColumnElement[Any]) -> ColumnElement[bool]:
    """Rows of the visitor's apps; those of no app are nobody's."""
    apps = own_apps()
    return true() if apps is None else app.in_(sorted(apps))


def seen(app: ColumnElement[Any]) -> ColumnElement[bool]:
    """The same, and rows that concern all apps."""
    return true() if own_apps() is None else or_(app.is_(None), of_own(app))


def seen_revision(session: Session, number: int) -> RevisionRow:
    """One revision; raises UnknownRevision, for one of somebody else's app too."""
    row = revisions.revision(session, number)
    if not reader().sees(row.app):
        raise UnknownRevision(f"there is no revision {number}", field="revision")
    return row


def seen_file(session: Session, sha256: str) -> ArtifactRow:
    """What is known of a file; raises UnknownArtifact, for one that only others' apps name too."""
    row = artifacts.artifact(session, sha256)
    if row is None or not artifacts.is_of(session, sha256, own_apps(), reader().name):
        raise UnknownArtifact(f"no file of the digest {sha256} is kept here", field="sha256")
    return row
