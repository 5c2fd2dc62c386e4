"""Telemetry health: what became of records, why, how far they are rolled up, and some that were set aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final

from flask import Response, render_template, request
from sqlalchemy import Select, func, literal, select
from sqlmodel import Session

from service import clock
from service.console.charts import FRAME, LineChart, line_chart
from service.console.formats import share
from service.console.listing import csv_file, wants_csv
from service.console.own_apps import of_own
from service.console.paging import stated, stated_number
from service.context import services
from service.store import arm_tallies, health, tallies
from service.store.tables import metadata

PERIODS_DAYS: Final = (7, 30, 90)
SAMPLE: Final = 25
SAMPLE_BACK: Final = timedelta(days=7)
MOST_BYTES: Final = 4_000
"""Of a record's own bytes."""
LATE_AFTER: Final = timedelta(minutes=15)
"""Three turns of the rollup."""
VERDICTS: Final = ("accepted", "duplicate", "set-aside", "rejected")
_OBSERVATION: Final = metadata.tables["observation"]


def page() -> str | Response:
    """The page, or the sample as a file."""
    now = clock.now()
    asked = stated_number(request.args, "days")
    days = asked if asked in PERIODS_DAYS else PERIODS_DAYS[0]
    reason = stated(request.args, "reason")
    with Session(services().engine) as session:
        connection = session.connection()
        sampled = _set_aside(reason).where(_OBSERVATION.c.received_at >= now - SAMPLE_BACK)
        if wants_csv():
            return csv_file(session, sampled, "set-aside")
        found = health.telemetry_health(session, now, days)
        by_day = tallies.by_day(session, date.fromisoformat(found["since"]))
        starts = arm_tallies.starts(session)
        sample = connection.execute(sampled.limit(SAMPLE)).all()
    rolled_up = {name: datetime.fromisoformat(at) if at else None for name, at in found["rolled_up"].items()}
    return render_template(
        "console/telemetry.html",
        health=found,
        verdicts=VERDICTS,
        by_day=by_day,
        total=sum(sum(counts.values()) for counts in by_day.values()),
        chart=_chart(by_day),
        frame=FRAME,
        sample=sample,
        starts=starts,
        sample_days=SAMPLE_BACK.days,
        reason=reason,
        days=days,
        periods=PERIODS_DAYS,
        rolled_up=rolled_up,
        lag=now - rolled_up["at"] if rolled_up["at"] else None,
        late_after=LATE_AFTER,
    )


def _set_aside(reason: str) -> Select[Any]:
    plain = ("received_at", "set_aside", "sdk", "app", "model", "arm", "release", "device_class", "report_id")
    payload = func.substring(_OBSERVATION.c.set_aside_payload, 1, MOST_BYTES)
    # Escaped: bytes that are no UTF-8 stay readable instead of failing the page.
    record = func.encode(payload, literal("escape")).label("record")
    columns = [_OBSERVATION.c.record_id, *(_OBSERVATION.c[name] for name in plain), record]
    query = select(*columns).where(_OBSERVATION.c.set_aside.is_not(None), of_own(_OBSERVATION.c.app))
    query = query.where(_OBSERVATION.c.set_aside == reason) if reason else query
    return query.order_by(_OBSERVATION.c.received_at.desc())


def _chart(by_day: Mapping[date, Mapping[str, int]]) -> LineChart | None:
    """Shares of what is not believed, by day; none for a single day, which is no curve."""
    received = [(day, counts) for day, counts in sorted(by_day.items()) if sum(counts.values())]
    if len(received) < 2:
        return None
    first = received[0][0]
    places = [(float((day - first).days), f"{day.day} {day:%b}") for day, _ in received]
    series = [
        (name, _shares(verdict, received)) for name, verdict in (("set aside", "set-aside"), ("rejected", "rejected"))
    ]
    return line_chart("Share of records by day of receipt", places, series, share, floor=0.0)


def _shares(verdict: str, received: Sequence[tuple[date, Mapping[str, int]]]) -> list[float]:
    return [counts.get(verdict, 0) / sum(counts.values()) for _, counts in received]
