"""What the requests of a worker share."""

from __future__ import annotations

from dataclasses import dataclass

from flask import current_app
from sqlalchemy import Engine

from service.artifacts.store import ArtifactStore
from service.deciding.local_copy import LocalCopy
from service.deciding.lookup import Lookup
from service.deciding.signing import SigningKeys
from service.identity.attempts import Attempts
from service.identity.keyring import KeyRing
from service.identity.sessions import Sessions
from service.intake.intake import Intake
from service.releasing.learned_runs import LearnedRuns
from service.releasing.past_releases import PastReleases
from service.settings import Settings
from service.simulating.simulations import Simulations


@dataclass(frozen=True, slots=True)
class Services:
    """Engine, settings, live and past releases, learning runs, what takes telemetry, API keys, sessions and attempts at one.

    `signing_keys`, `local`, `artifacts`: what signs decisions, the host's copy of the release, and what keeps files, where
    the settings name them.
    `simulations` tries changes that nobody saved.
    """

    engine: Engine
    settings: Settings
    lookup: Lookup
    past_releases: PastReleases
    learned_runs: LearnedRuns
    intake: Intake
    keyring: KeyRing
    sessions: Sessions
    attempts: Attempts
    signing_keys: SigningKeys | None
    local: LocalCopy | None
    artifacts: ArtifactStore | None
    simulations: Simulations


def services() -> Services:
    """The services of the app that handles this request."""
    found: Services = current_app.extensions["nnfleet"]
    return found
