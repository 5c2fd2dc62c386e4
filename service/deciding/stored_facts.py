"""Fingerprints of stored reports, canonicalised by today's tables: the facts that decisions are really made from."""

from __future__ import annotations

from sqlmodel import Session

from policies.errors import UnknownReport
from policies.fingerprint import Fingerprint, fingerprint
from policies.report import parse_report
from service.store import reports


def of_report(session: Session, report_id: str) -> Fingerprint:
    """The facts of a report; raises UnknownReport."""
    body = reports.report_body(session, report_id)
    if body is None:
        raise UnknownReport("no report of this id was uploaded", field="report_id")
    return fingerprint(parse_report(body))


def of_class(session: Session, device_class: str) -> tuple[str, Fingerprint]:
    """(id, facts) of the first report of a class; raises UnknownReport."""
    report_id = reports.report_of_class(session, device_class)
    if report_id is None:
        raise UnknownReport(f"no report of a device class {device_class!r} was uploaded", field="class")
    return report_id, of_report(session, report_id)
