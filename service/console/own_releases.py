"""What of releases and rollouts is the visitor's: both hold all apps, and some of it concerns others alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, case, exists, func, select, true
from sqlmodel import Session

from policies.revision import Kind
from service.console.own_apps import of_own, own_apps, reader, seen
from service.store.tables import metadata

_REVISION: Final = metadata.tables["revision"]
_ROLLOUT: Final = metadata.tables["rollout"]
_RELEASE: Final = metadata.tables["release"]
_PARTS: Final = {
    Kind.POLICY: "documents",
    Kind.MODEL: "models",
    Kind.FLAGS: "flags",
    Kind.QUARANTINE: "quarantines",
}
"""Where a release keeps what revisions of a kind are of."""


def seen_rollouts() -> ColumnElement[bool]:
    """Rollouts that change something of the visitor's apps, or of all."""
    return true() if own_apps() is None else _changes(seen(_REVISION.c.app))


def told_rollouts() -> ColumnElement[bool]:
    """Rollouts that change nothing beside the visitor's apps: what the guard says of others names their models."""
    return true() if own_apps() is None else ~_changes(func.coalesce(~of_own(_REVISION.c.app), true()))


def _changes(wanted: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether a rollout brings or takes away a revision that is wanted."""
    number = _REVISION.c.number
    in_candidate, in_control = (
        number == func.any(_ROLLOUT.c[side]) for side in ("candidate_revisions", "control_revisions")
    )
    return exists(select(number).where(in_candidate != in_control, wanted).correlate(_ROLLOUT))


def seen_note(author: str, note: str) -> str:
    """The note of a release, which may be about any app: for who has them all, and for its author."""
    return note if own_apps() is None or author == reader().name else ""


def seen_notes() -> ColumnElement[Any]:
    """The notes of releases, the same way."""
    if own_apps() is None:
        return _RELEASE.c.note
    return case((_RELEASE.c.author == reader().name, _RELEASE.c.note), else_="")


def seen_changes(session: Session, changes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those of a release's changes that are of the visitor's apps, or of none."""
    if own_apps() is None:
        return list(changes)
    query = select(_REVISION.c.kind, _REVISION.c.subject).where(seen(_REVISION.c.app)).distinct()
    places = {
        (_PARTS[Kind(kind)], subject.replace("/", "."))
        for kind, subject in session.connection().execute(query)
        if kind in _PARTS
    }
    return [change for change in changes if _place(change["path"]) in places or _part(change) not in _PARTS.values()]


def _part(change: Mapping[str, Any]) -> str:
    return _place(change["path"])[0]


def _place(path: str) -> tuple[str, str]:
    """`/models/camera.seg/family` → (`models`, `camera.seg`)."""
    part, _, rest = path.strip("/").partition("/")
    return part, rest.partition("/")[0]
