"""Renewal: a release that stays live is published again before its decisions expire on phones."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Engine
from sqlmodel import Session

from service.identity.actor import GUARD
from service.releasing.publishing import republish
from service.releasing.releases import load

OVER: Final = 0.5
"""Share of the shortest validity after which a release is renewed: phones then have as long again to ask."""


def renew(engine: Engine, now: datetime) -> int | None:
    """Publish the live release again where half of its shortest validity is over; the new number, None where it is not.

    A rollout goes on with the share it has.
    """
    live = load(engine)
    if live is None or not live.documents:
        return None
    valid_s = min(document.valid_s for document in live.documents.values())
    if now - live.published_at < OVER * timedelta(seconds=valid_s):
        return None
    with Session(engine) as session, session.begin():
        note = f"release {live.number} again, before its decisions expire"
        return republish(session, note, GUARD.name, now, "release-renewed")
