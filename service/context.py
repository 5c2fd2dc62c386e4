"""What the requests of a worker share."""

from __future__ import annotations

from dataclasses import dataclass

from flask import current_app
from sqlalchemy import Engine

from service.intake.intake import Intake
from service.keyring import KeyRing
from service.lookup import Lookup
from service.past_releases import PastReleases
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    """Engine, settings, the live release of this worker and those before it, what takes telemetry, and keys."""

    engine: Engine
    settings: Settings
    lookup: Lookup
    past_releases: PastReleases
    intake: Intake
    keyring: KeyRing


def services() -> Services:
    """The services of the app that handles this request."""
    found: Services = current_app.extensions["nnfleet"]
    return found
