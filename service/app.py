"""The composition root: engine, lookup, blueprints."""

from __future__ import annotations

from flask import Flask
from sqlalchemy import Engine

from service.api import (
    artifacts,
    audit,
    decide,
    devices,
    exports,
    findings,
    health,
    ofrep,
    openapi,
    policies,
    quarantines,
    releases,
    revisions,
    rollouts,
    simulations,
    telemetry,
    watch,
)
from service.artifacts.store import open_store
from service.console import pages, provider, visitor
from service.context import Services
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
from service.store.engine import make_engine
from service.web import door, problems


def create_app(settings: Settings, engine: Engine | None = None) -> Flask:
    """The Flask application. It does not follow releases by itself: `service.wsgi` starts that in each worker."""
    app = Flask(__name__, static_folder=None)
    app.extensions["nnfleet"] = make_services(settings, engine or make_engine(settings))
    for module in (
        devices, telemetry, decide, ofrep, exports, openapi, policies, revisions, releases, quarantines, rollouts, simulations, audit,
        findings, watch, health, artifacts, pages,
    ):  # fmt: skip
        app.register_blueprint(module.blueprint)
    visitor.set_up(app, settings)
    provider.set_up(app, settings)
    door.install(app, visitor.check_person)
    problems.register(app)
    return app


def make_services(settings: Settings, engine: Engine) -> Services:
    """What the requests of one application share."""
    keys = SigningKeys.read(settings.signing_keys) if settings.signing_keys else None
    local = LocalCopy(settings.local_folder) if settings.local_folder else None
    return Services(
        engine,
        settings,
        Lookup(engine, settings.lookup_cache_bytes, keys, local),
        PastReleases(engine),
        LearnedRuns(engine),
        Intake.of(engine, settings),
        KeyRing(engine, settings.manage_token),
        Sessions.of(engine, settings),
        Attempts(engine),
        keys,
        local,
        open_store(settings.artifacts) if settings.artifacts else None,
        Simulations(engine),
    )
