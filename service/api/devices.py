"""What devices call first: decisions and reports."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, request
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.fingerprint import fingerprint
from policies.report import MAX_BYTES, parse_report
from service import clock
from service.context import services
from service.deciding.answer import not_modified
from service.store import reports
from service.web.reading import bounded_body

blueprint = Blueprint("devices", __name__, url_prefix="/v1")


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
