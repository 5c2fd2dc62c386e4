"""Follow the newest release: every worker swaps to it whole."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import psycopg
import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from service.release_content import ReleaseContent, Staged
from service.settings import Settings
from service.store import releases
from service.store.tables import ReleaseRow

log = structlog.get_logger(__name__)


def load(engine: Engine, number: int | None = None) -> ReleaseContent | None:
    """The newest release, or the one of that number; None where there is none."""
    with Session(engine) as session:
        wanted = releases.newest_number(session) if number is None else number
        row = releases.release(session, wanted) if wanted is not None else None
        if row is None:
            return None
        control = _parsed(session, row, row.content_sha256)
        if row.candidate_sha256 is None or row.share_bp is None:
            return control
        return replace(control, staged=Staged(_parsed(session, row, row.candidate_sha256), row.share_bp))


def _parsed(session: Session, row: ReleaseRow, sha256: str) -> ReleaseContent:
    content = releases.content(session, sha256)
    return ReleaseContent.from_bytes(row.number, row.published_at, content, row.quarantines)


class ReleaseWatcher:
    """A thread that hands every new release to `swap`. Starts in the worker, never in the master: threads do not fork.

    It LISTENs, and asks for the newest number at every wake and at least every `watch_interval_s`: a notice that gets
    lost costs that long. A database that is down costs nothing but news: the last release goes on being served.
    """

    def __init__(self, engine: Engine, settings: Settings, swap: Callable[[ReleaseContent], None]) -> None:
        self._engine = engine
        self._settings = settings
        self._swap = swap
        self._current = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="release-watcher", daemon=True)

    def start(self) -> None:
        """Load the newest release if there is one, then follow."""
        try:
            self._look()
        except (SQLAlchemyError, ValueError) as error:
            log.warning("release-watch-interrupted", error=str(error))
        self._thread.start()

    def stop(self) -> None:
        """End the thread; returns when it has."""
        self._stopping.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._follow()
            except (psycopg.Error, SQLAlchemyError, ValueError) as error:
                # A ValueError: content that this installation cannot read, from a newer one. The last release goes on.
                log.warning("release-watch-interrupted", error=str(error))
                self._stopping.wait(self._settings.watch_interval_s)

    def _follow(self) -> None:
        with psycopg.connect(
            self._settings.database_url, autocommit=True, application_name="nnfleet-watch"
        ) as connection:
            connection.execute(f"LISTEN {releases.CHANNEL}")
            while not self._stopping.is_set():
                # Read after LISTEN and after every wake: a release between the two would be missed otherwise.
                self._look()
                for _ in connection.notifies(timeout=self._settings.watch_interval_s, stop_after=1):
                    pass

    def _look(self) -> None:
        with Session(self._engine) as session:
            newest = releases.newest_number(session)
        if newest is None or newest <= self._current:
            return
        content = load(self._engine, newest)
        if content is not None:
            self._swap(content)
            self._current = newest
            log.info("release-live", release=newest)
