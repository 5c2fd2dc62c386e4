"""What gunicorn serves: the fast lane, Flask behind it, and in each worker a thread that follows releases.

Loaded by the worker, never preloaded by the master: neither threads nor database connections survive a fork.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from service import logs
from service.app import create_app
from service.context import Services
from service.fast_lane import FastLane
from service.releases import ReleaseWatcher
from service.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


def make_application() -> WSGIApplication:
    """The WSGI callable of one worker, set up from the environment and following the newest release."""
    settings = Settings.from_environment()
    logs.configure(settings.log_level)
    flask = create_app(settings)
    shared: Services = flask.extensions["nnfleet"]
    ReleaseWatcher(shared.engine, settings, shared.lookup.swap).start()
    # The fast lane asks nobody who they are: where devices need keys, every request goes through the door.
    return flask.wsgi_app if settings.require_keys else FastLane(shared.lookup, flask)
