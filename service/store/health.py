"""How telemetry fares: what became of records, who sends what is not believed, how far it is rolled up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import Session

from service.store import partitions, tallies

_BY_SDK: Final = text(
    """
    SELECT set_aside AS reason, coalesce(sdk, 'unstated') AS sdk, count(*) AS records
    FROM observation WHERE set_aside IS NOT NULL AND received_at >= :since GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 50
    """
)
_BY_RELEASE: Final = text(
    """
    SELECT release, count(*) AS records
    FROM (SELECT release FROM observation WHERE received_at >= :since AND kind = 'window' LIMIT 100000) AS heard
    GROUP BY 1 ORDER BY 1 DESC LIMIT 20
    """
)
"""A large fleet sends more in ten minutes than anybody needs to know the shares: a hundred thousand are enough."""
_ROLLED: Final = text(
    "SELECT max(day) AS day, max(rolled_at) AS at, max(day) FILTER (WHERE settled) AS settled FROM rolled_day"
)


def telemetry_health(session: Session, now: datetime, days: int) -> dict[str, Any]:
    """Verdicts of the last `days` UTC days, today included; records set aside in the last 24 hours by SDK; which
    releases the windows of the last ten minutes ran under; rollups.
    """
    since = now.astimezone(UTC).date() - timedelta(days=days - 1)
    totals = tallies.totals(session, since)
    connection = session.connection()
    by_sdk = connection.execute(_BY_SDK, {"since": now - timedelta(hours=24)}).mappings()
    by_release = connection.execute(_BY_RELEASE, {"since": now - timedelta(minutes=10)})
    rolled = connection.execute(_ROLLED).one()
    made = partitions.days(connection)
    return {
        "since": since.isoformat(),
        "accepted": totals.get(("accepted", ""), 0),
        "duplicate": totals.get(("duplicate", ""), 0),
        "set_aside": {reason: n for (verdict, reason), n in totals.items() if verdict == "set-aside"},
        "rejected": {reason: n for (verdict, reason), n in totals.items() if verdict == "rejected"},
        tallies.NOTED: {reason: n for (verdict, reason), n in totals.items() if verdict == tallies.NOTED},
        "set_aside_by_sdk_24h": [dict(row) for row in by_sdk],
        "windows_by_release_10m": {str(release): records for release, records in by_release},
        "rolled_up": {
            "newest_day": rolled.day.isoformat() if rolled.day else None,
            "at": rolled.at.isoformat() if rolled.at else None,
            "settled_until": rolled.settled.isoformat() if rolled.settled else None,
        },
        "partitions": {"days": len(made), "until": made[-1].isoformat() if made else None},
    }
