"""A file that came in: read apart from this process, kept, noted. In this order: what is noted is there."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine
from sqlmodel import Session

from service.artifacts.store import ArtifactStore
from service.registry.apart import inspect_apart
from service.registry.inspected import Inspected
from service.registry.model_file import ModelFileError
from service.store import artifacts, audit
from service.store.tables import ArtifactRow


def register(
    engine: Engine, store: ArtifactStore, sha256: str, file: Path, actor: str, now: datetime
) -> tuple[ArtifactRow, bool]:
    """(what is known of the file, whether it is new). The file is taken over.

    One that is kept already is read again: this version may read more of it. Raises ModelFileError where it is empty, or
    a model and broken; such a file is not kept.
    """
    if not file.stat().st_size:
        raise ModelFileError("not-a-model", "the file is empty")
    row = row_of(sha256, file.stat().st_size, inspect_apart(file), actor, now)
    with Session(engine, expire_on_commit=False) as session, session.begin():
        artifacts.hold(session)
        store.keep(sha256, file)
        new = artifacts.add(session, row)
        if new:
            audit.append(session, now, actor, "artifact-uploaded", sha256, size_bytes=row.size_bytes, format=row.format)
    return row, new


def row_of(sha256: str, size_bytes: int, found: Inspected | None, actor: str, now: datetime) -> ArtifactRow:
    """What is noted of a file; `found` is None where nothing here reads its kind."""
    return ArtifactRow(
        sha256=sha256,
        size_bytes=size_bytes,
        format=found.format if found else None,
        precision=found.precision if found else None,
        graph=found.graph.to_json() if found else None,
        facts=dict(found.facts) if found else None,
        uploaded_by=actor,
        uploaded_at=now,
    )
