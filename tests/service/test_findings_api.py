"""What detectors saw is there for machines too: lists for alerts, one with its evidence (R-E4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine
from sqlmodel import Session

from service.store.findings import finding_id, note

FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
CRASH: dict[str, Any] = {
    "name": "crash", "soc": "sm8650", "arms": ["int8.*.qnn"], "p_value": 1e-6, "windows": 12, "detail": "12 of 40",
    "evidence": [{"model": "camera/segmentation", "failed": 12}], "quarantine": {"soc": "sm8650", "target": "qnn"},
}  # fmt: skip
HANG = CRASH | {"name": "hang", "windows": 30}


@pytest.fixture(autouse=True)
def seen(engine: Engine) -> None:
    """A crash that two looks saw, and a hang that the newest did not."""
    for late, found in enumerate(([CRASH, HANG], [CRASH])):
        with Session(engine) as session, session.begin():
            note(session, found, FIRST + timedelta(hours=late))


def test_what_the_newest_look_saw_is_listed_and_on_asking_all_there_was(operator: Operator) -> None:
    (crash,) = operator.send("GET", "/v1/findings").get_json()["findings"]
    assert (crash["finding"], crash["detail"], crash["looks"]) == (finding_id(CRASH), "12 of 40", 2)
    assert (crash["first_seen"], crash["last_seen"]) == ("2026-03-01T12:00:00+00:00", "2026-03-01T13:00:00+00:00")
    ever = operator.send("GET", "/v1/findings?seen=ever").get_json()["findings"]
    assert [(found["name"], found["present"]) for found in ever] == [("crash", True), ("hang", False)]


def test_one_comes_with_its_evidence_and_the_quarantine_it_proposes(operator: Operator) -> None:
    found = operator.send("GET", f"/v1/findings/{finding_id(HANG)}").get_json()
    assert (found["name"], found["present"]) == ("hang", False)
    assert found["content"]["evidence"] == CRASH["evidence"]
    assert found["content"]["quarantine"] == CRASH["quarantine"]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v1/findings?seen=yesterday", 422, "invalid-field"),
        ("/v1/findings/crash-000000000000", 404, "unknown-finding"),
    ],
)
def test_what_is_not_there_is_told(operator: Operator, path: str, status: int, code: str) -> None:
    answer = operator.send("GET", path)
    assert (answer.status_code, answer.get_json()["code"]) == (status, code)


def test_nobody_reads_them_without_a_key(client: FlaskClient) -> None:
    assert client.get("/v1/findings").status_code == 401
