"""What gunicorn serves: the fast lane, Flask behind it, and in each worker a thread that follows releases.

Loaded by the worker, never preloaded by the master: neither threads nor database connections survive a fork.
"""

from __future__ import annotations

from service import logs
from service.app import create_app
from service.context import Services
from service.fast_lane import FastLane
from service.releases import ReleaseWatcher
from service.settings import Settings


def make_application() -> FastLane:
    """The WSGI callable of one worker, set up from the environment and following the newest release."""
    settings = Settings.from_environment()
    logs.configure(settings.log_level)
    flask = create_app(settings)
    shared: Services = flask.extensions["nnfleet"]
    ReleaseWatcher(shared.engine, settings, shared.lookup.swap).start()
    return FastLane(shared.lookup, flask)
