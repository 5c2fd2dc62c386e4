"""A release that stays live does not expire on phones (R-F5)."""

from __future__ import annotations

from datetime import timedelta

from operating import Operator
from sqlalchemy import Engine
from sqlmodel import Session

from service import clock
from service.releasing.releases import load
from service.releasing.renewal import renew
from service.store import releases


def test_nothing_is_renewed_before_half_of_the_validity_is_over(engine: Engine, operator: Operator) -> None:
    operator.publish(policy={"valid_s": 7200})
    assert renew(engine, clock.now() + timedelta(seconds=3500)) is None


def test_after_half_of_it_the_same_content_is_live_under_the_next_number(engine: Engine, operator: Operator) -> None:
    operator.publish(policy={"valid_s": 7200})
    later = clock.now() + timedelta(seconds=3700)
    assert renew(engine, later) == 2
    with Session(engine) as session:
        first, second = releases.release(session, 1), releases.release(session, 2)
        assert first is not None
        assert second is not None
        assert (second.content_sha256, second.revisions, second.diff) == (first.content_sha256, first.revisions, [])
    renewed = load(engine)
    assert renewed is not None
    assert renewed.published_at == later
    assert renew(engine, later) is None


def test_where_nothing_is_live_nothing_is_renewed(engine: Engine) -> None:
    assert renew(engine, clock.now()) is None
