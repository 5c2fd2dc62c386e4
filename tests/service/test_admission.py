"""Too much is answered with a wait, before the pool or the disk is full (R-D6)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from builders import make_attempt, make_observation, make_report
from flask.testing import FlaskClient
from sqlalchemy import Engine, text
from sqlmodel import Session

from policies.report import report_id
from service import clock
from service.app import create_app
from service.identity.access import Scope
from service.identity.keyring import NewKey, create
from service.intake.admission import SPREAD_S, Overloaded, Quota, QuotaExceeded, Slots, StorageFull, TryLater
from service.settings import Settings
from service.web.problems import problem_of


def post(client: FlaskClient, *records: Any) -> Any:
    return client.post("/v1/telemetry", data=json.dumps(records), content_type="application/json")


def told_to_wait(answer: Any, code: str) -> int:
    assert (answer.status_code, answer.get_json()["code"]) == (429, code)
    return int(answer.headers["Retry-After"])


def test_no_more_batches_are_stored_at_once_than_there_are_slots() -> None:
    slots = Slots(2)
    with slots.one(), slots.one(), pytest.raises(Overloaded) as caught, slots.one():
        pass
    assert (caught.value.retry_after_s, caught.value.limit) == (1, 2)
    with slots.one(), slots.one():
        pass


@pytest.mark.parametrize(
    "refused", [Overloaded("full", 1), QuotaExceeded("too many", 32), StorageFull("no room", 300)], ids=lambda e: e.code
)
def test_phones_that_are_refused_together_are_not_told_to_come_back_together(refused: TryLater) -> None:
    waits = {int(problem_of(refused).headers["Retry-After"]) for _ in range(100)}
    assert len(waits) > 5
    assert refused.retry_after_s <= min(waits) <= max(waits) < refused.retry_after_s + SPREAD_S


def test_a_batch_beside_others_waits_while_a_decision_does_not(
    settings: Settings, engine: Engine, known_report: str
) -> None:
    app = create_app(settings, engine)
    slots = app.extensions["nnfleet"].intake._slots
    held = [slots.one() for _ in range(settings.pool_size - 2)]
    for slot in held:
        slot.__enter__()
    phone = app.test_client()
    assert 1 <= told_to_wait(post(phone, make_observation()), "overloaded") <= 10
    assert phone.get(f"/v1/decisions/camera/{known_report}").status_code == 404
    for slot in held:
        slot.__exit__(None, None, None)
    assert post(phone, make_observation()).get_json()["accepted"] == 1


class Clock:
    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def test_a_quota_is_a_minutes_worth_and_fills_evenly() -> None:
    clock = Clock()
    quota = Quota("report", 60, clock)
    quota.charge({"a": 50})
    quota.charge({"a": 40})
    with pytest.raises(QuotaExceeded) as caught:
        quota.charge({"a": 1, "b": 1})
    assert (caught.value.retry_after_s, caught.value.limit) == (32, 60)
    quota.charge({"b": 60})
    clock.now_s += caught.value.retry_after_s
    quota.charge({"a": 1})


def test_over_its_quota_a_report_waits_and_loses_nothing(settings: Settings, engine: Engine, known_report: str) -> None:
    phone = create_app(replace(settings, report_records_a_minute=60), engine).test_client()
    other = make_report(device={"model": "Pixel 11"})
    assert phone.put(f"/v1/reports/{report_id(other)}", data=other).status_code == 201
    assert post(phone, *(make_attempt(model=f"m{number % 2}") for number in range(70))).get_json()["accepted"] == 70
    assert 10 <= told_to_wait(post(phone, make_observation()), "quota-exceeded") <= 22
    assert post(phone, make_observation(report_id=report_id(other))).get_json()["accepted"] == 1
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM observation")).scalar_one() == 71


def test_zero_records_a_minute_are_no_quota() -> None:
    quota = Quota("report", 0)
    for _ in range(3):
        quota.charge({"a": 10**9})


@pytest.mark.parametrize("bound", [{"most_database_bytes": 1}, {"least_free_bytes": 2**62}])
def test_without_room_nothing_is_read_and_decisions_go_on(
    settings: Settings, engine: Engine, known_report: str, bound: dict[str, int]
) -> None:
    phone = create_app(replace(settings, **bound), engine).test_client()
    for _ in range(2):
        assert told_to_wait(post(phone, make_observation()), "storage-full") >= 300
    assert phone.get(f"/v1/decisions/camera/{known_report}").get_json()["code"] != "storage-full"


def test_a_key_opens_its_app_and_no_more_than_its_quota(
    settings: Settings, engine: Engine, client: FlaskClient, known_report: str
) -> None:
    with Session(engine) as session, session.begin():
        new = NewKey("camera-phones", frozenset({Scope.TELEMETRY}), None, "camera")
        secret = create(session, new, "test", clock.now())
    phone = create_app(replace(settings, require_keys=True, key_records_a_minute=60), engine).test_client()

    def send(*records: Any) -> Any:
        return phone.post("/v1/telemetry", json=records, headers={"Authorization": f"Bearer {secret}"})

    verdicts = send(make_observation(), make_observation(app="other")).get_json()
    assert verdicts["accepted"] == 1
    assert [(row["index"], row["reason"]) for row in verdicts["rejected"]] == [(1, "another-app")]
    assert send(*(make_attempt(model=f"m{number % 2}") for number in range(70))).get_json()["accepted"] == 70
    assert told_to_wait(send(make_observation()), "quota-exceeded") >= 10
    assert post(client, make_observation()).get_json()["accepted"] == 1
