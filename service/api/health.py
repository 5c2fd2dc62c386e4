"""Liveness and readiness."""

from __future__ import annotations

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from service.context import services

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> ResponseReturnValue:
    """The process answers."""
    return jsonify({"status": "ok"})


@blueprint.get("/readyz")
def readyz() -> ResponseReturnValue:
    """What works: 200 where lookups and uploads do, 503 where the database is away (lookups of known reports go on)."""
    here = services()
    try:
        with here.engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    except SQLAlchemyError:
        return jsonify({"database": "down", "release": here.lookup.release}), 503
    return jsonify({"database": "up", "release": here.lookup.release})
