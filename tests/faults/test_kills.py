"""Processes die in the middle of everything; what was acknowledged is stored, exactly once (R-D6)."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from faults.phones import compare
from faults.site import Site
from faults.storms import kill_backends, kill_workers, sending
from sqlalchemy import text

pytestmark = pytest.mark.slow


def tallied(site: Site) -> int:
    """Records that are tallied as accepted."""
    accepted = text("SELECT sum(records)::bigint FROM telemetry_tally WHERE verdict = 'accepted'")
    with site.engine.connect() as connection:
        number: int = connection.execute(accepted).scalar_one()
    return number


def test_workers_that_are_killed_lose_and_double_nothing(running: Site, say: Callable[[str], None]) -> None:
    with sending(running) as phones:
        killed = kill_workers(running, phones, 4, random.Random(1))
    found = compare(running.engine, phones.ledger)
    say(f"{killed} workers killed, {phones.ledger.cut_off} requests cut off: {found}")
    assert killed >= 3
    assert phones.ledger.cut_off > 0
    assert (found.missing, found.doubled) == (0, 0)
    assert tallied(running) == found.acknowledged + found.unacknowledged
    assert found.acknowledged > 1_000


def test_a_database_that_is_killed_in_a_transaction_loses_and_doubles_nothing(
    running: Site, say: Callable[[str], None]
) -> None:
    with sending(running) as phones:
        killed = kill_backends(running, phones, 3, random.Random(2))
    found = compare(running.engine, phones.ledger)
    say(f"PostgreSQL killed {killed} times, requests refused {dict(phones.ledger.refused)}: {found}")
    assert killed >= 2
    assert phones.ledger.refused.keys() <= {500, 503}
    assert phones.ledger.refused.total() > 0
    assert (found.missing, found.doubled) == (0, 0)
    assert tallied(running) == found.acknowledged + found.unacknowledged
