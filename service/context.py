"""What the requests of a worker share."""

from __future__ import annotations

from dataclasses import dataclass

from flask import current_app
from sqlalchemy import Engine

from service.lookup import Lookup
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    """Engine, settings and the live release of this worker."""

    engine: Engine
    settings: Settings
    lookup: Lookup


def services() -> Services:
    """The services of the app that handles this request."""
    found: Services = current_app.extensions["nnfleet"]
    return found
