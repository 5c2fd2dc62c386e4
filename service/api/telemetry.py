"""Telemetry, as devices send it."""

from __future__ import annotations

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue

from service import clock
from service.context import services
from service.intake.encodings import MAX_COMPRESSED_BYTES
from service.intake.intake import ANYBODY, Sender
from service.web.door import device_key

blueprint = Blueprint("telemetry", __name__, url_prefix="/v1")


@blueprint.post("/telemetry")
def post_telemetry() -> ResponseReturnValue:
    """Take a batch of observations; the answer comes after the commit, with a verdict on each record."""
    intake = services().intake
    intake.room.check()
    body = request.stream.read(MAX_COMPRESSED_BYTES + 1)  # one more: then it is over the limit, and says how
    ndjson = request.mimetype in {"application/x-ndjson", "application/jsonl"}
    encoding = request.headers.get("Content-Encoding", "")
    key = device_key()
    sender = Sender(key.name, key.app) if key else ANYBODY
    return jsonify(intake.take(body, encoding, clock.now(), ndjson=ndjson, sender=sender).to_json())
