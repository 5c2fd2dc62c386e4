"""The console on the session's PostgreSQL, somebody who reads it, and a stage to fill it."""

from __future__ import annotations

import pytest
from console_builders import Stage
from flask import Flask
from flask.testing import FlaskClient
from signing_in import signed_in
from sqlalchemy import Engine

from service.identity.actor import Role


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return signed_in(app, "vera", Role.VIEWER)


@pytest.fixture
def stage(engine: Engine, app: Flask) -> Stage:
    return Stage(engine, app.extensions["nnfleet"].lookup)
