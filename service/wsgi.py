"""What the web server serves: the fast lane, Flask behind it, and in each worker a thread that follows releases.

Loaded by the worker, never preloaded by the master: neither threads nor database connections survive a fork.
"""

from __future__ import annotations

import atexit
import gc
from typing import TYPE_CHECKING, Final

from service import logs
from service.app import create_app
from service.context import Services
from service.deciding.fast_lane import FastLane
from service.deciding.local_copy import LocalCopy
from service.deciding.lookup import Lookup
from service.releasing.release_content import PackedRelease, ReleaseContent
from service.releasing.releases import ReleaseWatcher
from service.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

GC_OBJECTS: Final = 20_000
"""New objects between two looks of the garbage collector: more than a batch of telemetry holds at once."""


class LookupFollower:
    """Keeps a lookup on the newest release, and the host's copy of it up to date."""

    def __init__(self, lookup: Lookup, local: LocalCopy | None) -> None:
        self._lookup = lookup
        self._local = local

    def start_from_copy(self) -> None:
        """Serve what this host kept, until the database says what is newest: it may be away."""
        kept = self._local.release() if self._local else None
        if kept is not None:
            self._lookup.swap(kept)

    def released(self, content: ReleaseContent, packed: PackedRelease) -> None:
        """Serve the release, keep it."""
        if self._lookup.release != content.number:
            self._lookup.swap(content)
        if self._local is not None:
            self._local.keep_release(packed)

    def woken(self) -> None:
        """Take the ready decisions, where new ones are there for the release that is served."""
        file = self._local.new_decisions(self._lookup.release) if self._local else None
        if file is not None:
            self._lookup.adopt(file)


def make_application() -> WSGIApplication:
    """The WSGI callable of one worker, set up from the environment and following the newest release."""
    settings = Settings.from_environment()
    logs.configure(settings.log_level)
    flask = create_app(settings)
    shared: Services = flask.extensions["nnfleet"]
    follower = LookupFollower(shared.lookup, shared.local)
    follower.start_from_copy()
    watcher = ReleaseWatcher(shared.engine, settings, follower)
    watcher.start()
    _spare_the_collector()
    # A thread that the interpreter stops in the middle of libpq takes the whole worker with it (SIGABRT).
    atexit.register(watcher.stop)
    # The fast lane asks nobody who they are: where devices need keys, every request goes through the door.
    return flask.wsgi_app if settings.require_keys else FastLane(shared.lookup, flask)


def _spare_the_collector() -> None:
    """What a worker starts with lives as long as it does: never looked at again. A quarter of the CPU of telemetry."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_OBJECTS)
