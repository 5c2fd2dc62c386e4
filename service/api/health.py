"""Liveness and readiness."""

from __future__ import annotations

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from service.context import services

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> ResponseReturnValue:
    """The process answers."""
    return jsonify({"status": "ok"})


@blueprint.get("/readyz")
def readyz() -> ResponseReturnValue:
    """What works. 200 as long as lookups are answered, also without the database: a worker that could not be asked
    any more would be worse than one that takes no uploads. 503 where it has neither.
    """
    here = services()
    database = "up" if _answers(here.engine) else "down"
    ready = database == "up" or here.lookup.release is not None
    return jsonify({"database": database, "release": here.lookup.release}), 200 if ready else 503


def _answers(engine: Engine) -> bool:
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    except SQLAlchemyError:
        return False
    return True


@blueprint.get("/.well-known/jwks.json")
def signing_keys() -> ResponseReturnValue:
    """The public keys that decisions are signed with (RFC 7517). An app ships the ones it trusts; it never asks here."""
    keys = services().signing_keys
    return jsonify(keys.public() if keys else {"keys": []})
