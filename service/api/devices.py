"""What devices call first: decisions and reports."""

from __future__ import annotations

from typing import IO, Final

from flask import Blueprint, Response, jsonify, request
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.errors import BodyTooLarge
from policies.fingerprint import fingerprint
from policies.report import MAX_BYTES, parse_report
from service import clock
from service.context import services
from service.deciding.answer import not_modified
from service.store import reports

blueprint = Blueprint("devices", __name__, url_prefix="/v1")
SILENCE_S: Final = 10.0
"""A client that has not sent for so long in the middle of a body is given up: it holds a thread."""


def bounded_body(limit: int) -> bytes:
    """The request's body, also a chunked one; raises BodyTooLarge without reading past the limit."""
    body = patient_stream().read(limit + 1)
    if len(body) > limit:
        raise BodyTooLarge(f"the body has over {limit} bytes", limit=limit)
    return body


def patient_stream() -> IO[bytes]:
    """The request's body as a stream, whose reading ends where the client is silent for `SILENCE_S`."""
    if (connection := request.environ.get("gunicorn.socket")) is not None:
        connection.settimeout(SILENCE_S)
    return request.stream


@blueprint.get("/decisions/<app>/<report_id>")
def decision(app: str, report_id: str) -> ResponseReturnValue:
    """The decision document, or 304 where the client has it."""
    answer = services().lookup.answer(app, report_id)
    if not_modified(request.headers.get("If-None-Match", ""), answer.etag):
        return Response(status=304, headers=list(answer.validators))
    return Response(answer.body, headers=list(answer.headers))


@blueprint.put("/reports/<report_id>")
def put_report(report_id: str) -> ResponseReturnValue:
    """Upload a report once. 201 where it is new, 200 where it was here already."""
    body = bounded_body(MAX_BYTES)
    facts = fingerprint(parse_report(body, expected_id=report_id))
    with Session(services().engine) as session, session.begin():
        new = reports.store_report(session, report_id, body, facts, clock.now())
    seen = {"report_id": report_id, "device_class": facts.device_class}
    return jsonify(seen | {"anomalies": [a.model_dump() for a in facts.anomalies]}), 201 if new else 200
