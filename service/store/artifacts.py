"""Artifacts as rows: what was read from a file, and which files nothing names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, column, delete, or_, text, true
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import defer
from sqlmodel import Session, col, select

from service.store.tables import ArtifactRow

_LOCK: Final = 7_301_943  # advisory lock of artifacts; any number that nobody else uses

_NAMED_WHERE: Final = """
    SELECT variant->>'sha256' FROM revision, jsonb_array_elements(content->'variants') AS variant
    WHERE kind = 'model' AND {0}
    UNION
    SELECT golden.value FROM revision, jsonb_each_text(content->'golden') AS golden
    WHERE kind = 'model' AND {0} AND jsonb_typeof(content->'golden') = 'object' AND golden.key LIKE '%sha256'
"""
_NAMED: Final = text(_NAMED_WHERE.format("true"))
"""Files that some revision names, in whatever state: an old one may be live again after a rollback."""
_NAMED_BY: Final = text(_NAMED_WHERE.format("app = ANY(:apps)"))

_VARIANTS_OF: Final = text("""
    SELECT app, name AS model, variant->>'id' AS variant
    FROM accepted_model, jsonb_array_elements(spec->'variants') AS variant WHERE variant->>'sha256' = :sha256
    ORDER BY app, name
""")


def hold(session: Session) -> None:
    """Until the transaction ends nobody prunes; others may hold it too."""
    session.execute(text("SELECT pg_advisory_xact_lock_shared(:lock)"), {"lock": _LOCK})


def hold_alone(session: Session) -> None:
    """Until the transaction ends nobody takes a file in."""
    session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})


def add(session: Session, row: ArtifactRow) -> bool:
    """Store what is known of a file, in place of what was; True where it is new."""
    values = row.model_dump()
    stored = insert(ArtifactRow).values(**values).on_conflict_do_update(index_elements=["sha256"], set_=values)
    # A row that this statement made was locked by nobody before.
    return bool(session.execute(stored.returning(text("xmax = 0"))).scalar_one())


def artifact(session: Session, sha256: str) -> ArtifactRow | None:
    """What is known of a file, without its graph until somebody asks for it."""
    found = select(ArtifactRow).where(ArtifactRow.sha256 == sha256)
    return session.exec(found.options(defer(col(ArtifactRow.graph)))).first()  # type: ignore[arg-type]


def these(session: Session, digests: Collection[str]) -> dict[str, ArtifactRow]:
    """What is known of those files that are kept, by digest: of those files that are kept."""
    found = select(ArtifactRow).where(col(ArtifactRow.sha256).in_(digests))
    return {row.sha256: row for row in session.exec(found)}


def known(session: Session, digests: Collection[str]) -> set[str]:
    """Those of these files that something is known of."""
    return set(session.exec(select(ArtifactRow.sha256).where(col(ArtifactRow.sha256).in_(digests))))


def newest(session: Session, limit: int, apps: frozenset[str] | None = None, uploader: str = "") -> list[ArtifactRow]:
    """The files uploaded last; with `apps` those of them, as `of_apps` has it."""
    found = select(ArtifactRow).options(defer(col(ArtifactRow.graph)))  # type: ignore[arg-type]
    found = found.where(of_apps(apps, uploader))
    return list(session.exec(found.order_by(col(ArtifactRow.uploaded_at).desc(), col(ArtifactRow.sha256)).limit(limit)))


def of_apps(apps: frozenset[str] | None, uploader: str) -> ColumnElement[bool]:
    """Files that a model of these apps names, in whatever state, and those of the uploader; None: every file."""
    if apps is None:
        return true()
    named = _NAMED_BY.bindparams(apps=sorted(apps)).columns(column("sha256"))
    return or_(col(ArtifactRow.uploaded_by) == uploader, col(ArtifactRow.sha256).in_(named))


def is_of(session: Session, sha256: str, apps: frozenset[str] | None, uploader: str) -> bool:
    """Whether a file is among those of the apps."""
    found = select(ArtifactRow.sha256).where(ArtifactRow.sha256 == sha256, of_apps(apps, uploader))
    return session.exec(found).first() is not None


def variants_of(session: Session, sha256: str) -> Sequence[Row[Any]]:
    """(app, model, variant) of the newest accepted revision of each model that has the file as a variant."""
    return session.connection().execute(_VARIANTS_OF, {"sha256": sha256}).all()


def unused(session: Session, before: datetime) -> list[str]:
    """Files that were uploaded before and that no revision names."""
    named = {digest for (digest,) in session.execute(_NAMED)}
    old = session.exec(select(ArtifactRow.sha256).where(col(ArtifactRow.uploaded_at) < before))
    return sorted(set(old) - named)


def forget(session: Session, digests: Sequence[str]) -> None:
    """Delete what is known of these files."""
    session.execute(delete(ArtifactRow).where(col(ArtifactRow.sha256).in_(digests)))
