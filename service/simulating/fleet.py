"""All stored reports, in the order of their digests: any beginning of it is a sample drawn evenly.

Reports that differ in nothing but what no decision reads (the firmware's build, times that the probe measured) are told
apart from others by a few of their fields, which costs a twentieth of making a fingerprint.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import text
from sqlmodel import Session, col, func, select

from policies.fingerprint import Fingerprint, fingerprint
from policies.report import CapabilityReport
from service.store.tables import ReportRow

REPORTS_A_READ: Final = 500
_WINDOWS: Final = text(
    """
    SELECT measured.device_class, measured.windows / greatest(class_facts.reports, 1)
    FROM (SELECT device_class, sum(windows)::float8 AS windows FROM observation_rollup
          WHERE app = ANY(:apps) GROUP BY 1) AS measured
    JOIN class_facts USING (device_class)
    """
)


class StoredReport(NamedTuple):
    """A report as it is stored, under the class it was given when it came."""

    device_class: str
    body: bytes

    def fingerprint(self) -> Fingerprint:
        """By today's tables. It was searched for identifiers of persons when it was taken."""
        return fingerprint(CapabilityReport.model_validate_json(self.body))

    def key(self, *, builds: bool) -> Hashable:
        """Equal for reports whose fingerprints differ in the build at most, and with `builds` in nothing."""
        told = _READER.decode(self.body)
        nnapi = told.nnapi or _Nnapi()
        drivers = tuple((d.name, d.type, repr(d.feature_level), d.probe and d.probe.status) for d in nnapi.devices)
        device = told.device
        build = device.build_fingerprint if builds else None
        runtimes = tuple(sorted(told.runtimes.items(), key=repr))
        level = repr(nnapi.runtime_feature_level)
        return self.device_class, device.manufacturer, device.soc_model, level, drivers, runtimes, build


# Kinds are left open: what a report may hold was checked when it was taken. A level may be anything, a list too.
class _Probe(msgspec.Struct):
    status: Any = None


class _Driver(msgspec.Struct):
    name: Any
    type: Any = None
    feature_level: Any = None
    probe: _Probe | None = None


class _Nnapi(msgspec.Struct):
    runtime_feature_level: Any = None
    devices: list[_Driver] = []


class _Device(msgspec.Struct):
    manufacturer: Any
    soc_model: Any = None
    build_fingerprint: Any = None


class _Told(msgspec.Struct):
    device: _Device
    nnapi: _Nnapi | None = None
    runtimes: dict[str, Any] = {}


_READER: Final = msgspec.json.Decoder(_Told)


def stored_reports(session: Session) -> Iterator[StoredReport]:
    """Every report, a bounded number in memory at a time."""
    found = select(ReportRow.device_class, ReportRow.body).order_by(col(ReportRow.report_id))
    with session.exec(found.execution_options(yield_per=REPORTS_A_READ)) as rows:
        yield from (StoredReport(*row) for row in rows)


def count_reports(session: Session) -> int:
    """How many there are."""
    return session.exec(select(func.count()).select_from(ReportRow)).one()


def windows_a_report(session: Session, apps: Sequence[str]) -> dict[str, float]:
    """Device class → windows that it has measured of these apps, over all days rolled up, for each of its reports."""
    rows = session.connection().execute(_WINDOWS, {"apps": list(apps)})
    return {device_class: float(windows) for device_class, windows in rows}
