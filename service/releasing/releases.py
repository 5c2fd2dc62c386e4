"""Follow the newest release: every worker swaps to it whole."""

from __future__ import annotations

import threading
from typing import Protocol

import psycopg
import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from service.releasing.release_content import PackedRelease, ReleaseContent
from service.settings import Settings
from service.store import releases

log = structlog.get_logger(__name__)


def load(engine: Engine, number: int | None = None) -> ReleaseContent | None:
    """The newest release, or the one of that number; None where there is none."""
    packed = _packed(engine, number)
    return packed.unpacked() if packed else None


def _packed(engine: Engine, number: int | None) -> PackedRelease | None:
    with Session(engine) as session:
        wanted = releases.newest_number(session) if number is None else number
        row = releases.release(session, wanted) if wanted is not None else None
        if row is None:
            return None
        content = releases.content(session, row.content_sha256)
        candidate = releases.content(session, row.candidate_sha256) if row.candidate_sha256 else None
        return PackedRelease(row.number, row.published_at, content, row.quarantines, candidate, row.share_bp)


class Follower(Protocol):
    """Who wants to know of releases. Called from the watcher's thread."""

    def released(self, content: ReleaseContent, packed: PackedRelease) -> None:
        """A release has gone live; `packed` is what it was read from."""

    def woken(self) -> None:
        """The watcher has looked once more, whether there was news or not."""


class ReleaseWatcher:
    """A thread that tells of every new release. Starts in the worker, never in the master: threads do not fork.

    It LISTENs, and asks for the newest number at every wake and at least every `watch_interval_s`: a notice that gets
    lost costs that long. A database that is down costs nothing but news: the last release goes on being served.
    """

    def __init__(self, engine: Engine, settings: Settings, follower: Follower) -> None:
        self._engine = engine
        self._settings = settings
        self._follower = follower
        self._current = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="release-watcher", daemon=True)

    def start(self) -> None:
        """Load the newest release if there is one, then follow."""
        try:
            self._look()
        except (SQLAlchemyError, OSError, ValueError) as error:
            log.warning("release-watch-interrupted", error=str(error))
        self._follower.woken()
        self._thread.start()

    def stop(self) -> None:
        """End the thread; returns when it has."""
        self._stopping.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._follow()
            except (psycopg.Error, SQLAlchemyError, OSError, ValueError) as error:
                # A ValueError: content that this installation cannot read, from a newer one. The last release goes on.
                # An OSError: a follower's disk. A thread that ended would leave this worker on its release for ever.
                log.warning("release-watch-interrupted", error=str(error))
                self._follower.woken()
                self._stopping.wait(self._settings.watch_interval_s)

    def _follow(self) -> None:
        with psycopg.connect(
            self._settings.database_url, autocommit=True, application_name="nnfleet-watch"
        ) as connection:
            connection.execute(f"LISTEN {releases.CHANNEL}")
            while not self._stopping.is_set():
                # Read after LISTEN and after every wake: a release between the two would be missed otherwise.
                self._look()
                self._follower.woken()
                for _ in connection.notifies(timeout=self._settings.watch_interval_s, stop_after=1):
                    pass

    def _look(self) -> None:
        with Session(self._engine) as session:
            newest = releases.newest_number(session)
        if newest is None or newest <= self._current:
            return
        packed = _packed(self._engine, newest)
        if packed is not None:
            self._follower.released(packed.unpacked(), packed)
            self._current = newest
            log.info("release-live", release=newest)
