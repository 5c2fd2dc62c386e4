"""Files that nothing names, let go after a while. Careful: a file that any revision or release ever named stays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Engine
from sqlmodel import Session

from service.artifacts.receiving import PREFIX
from service.artifacts.store import ArtifactStore
from service.jobs.run import Steps
from service.store import artifacts

GRACE: Final = timedelta(days=30)
"""Between an upload and the model that names it a review may lie."""
UPLOAD_TAKES: Final = timedelta(days=1)
"""An upload that is older was broken off by the end of its process."""


def prune(engine: Engine, store: ArtifactStore, now: datetime) -> Steps:
    """Forget files that were uploaded over `GRACE` ago and that no revision names, then what no row knows."""
    before = now - GRACE
    with Session(engine) as session, session.begin():
        # Nobody takes a file in meanwhile: what comes again after this is kept again.
        artifacts.hold_alone(session)
        unused = artifacts.unused(session, before)
        artifacts.forget(session, unused)
        for sha256 in unused:
            store.remove(sha256)
        yield 0.5, f"{len(unused)} files that nothing names removed"
        strays = list(_strays(session, store, before))
        for sha256 in strays:
            store.remove(sha256)
    broken_off = _remove_broken_off(store, now - UPLOAD_TAKES)
    yield 1.0, f"{len(strays)} files without a row and {broken_off} uploads that broke off removed"
    return {"unused": len(unused), "strays": len(strays), "broken_off": broken_off}


def _strays(session: Session, store: ArtifactStore, before: datetime) -> Iterator[str]:
    """Files of a process that ended between keeping and noting them."""
    old = [found.sha256 for found in store.kept() if found.kept_at < before]
    known = artifacts.known(session, old)
    yield from (sha256 for sha256 in old if sha256 not in known)


def _remove_broken_off(store: ArtifactStore, before: datetime) -> int:
    left = [file for file in store.incoming.glob(f"{PREFIX}*") if file.stat().st_mtime < before.timestamp()]
    for file in left:
        file.unlink(missing_ok=True)
    return len(left)
