"""About which phone is asked: the part that `decide` and OFREP read alike."""

from __future__ import annotations

from typing import Any

from policies.errors import InvalidField
from policies.fingerprint import Fingerprint, fingerprint
from policies.report import report_of
from service.context import services


def facts_asked(report_id: str | None, report: dict[str, Any] | None) -> Fingerprint:
    """The phone that is asked about, by the id of a stored report or by a whole one, which is not stored.

    Raises UnknownReport, or InvalidField where not exactly one of the two is given.
    """
    if (report_id is None) == (report is None):
        raise InvalidField("report_id: name a stored report, or send one as report, not both", field="report_id")
    if report_id is not None:
        return services().lookup.stored_fingerprint(report_id)
    return fingerprint(report_of(report))
