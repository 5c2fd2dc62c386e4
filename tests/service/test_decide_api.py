"""`POST /v1/decide`: report and moment in, chosen arm and every reason out (R-C10)."""

from __future__ import annotations

from typing import Any

import pytest
from builders import deny, make_report, report_with
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine

from policies.report import report_id
from service.releasing.past_releases import KEPT, PastReleases
from service.releasing.releases import load

NPU = "int8.tflite.nnapi.google-edgetpu"


def ask(client: FlaskClient, **body: Any) -> Any:
    return client.post("/v1/decide", json={"app": "camera"} | body)


def follow(client: FlaskClient, engine: Engine) -> None:
    content = load(engine)
    assert content is not None
    client.application.extensions["nnfleet"].lookup.swap(content)


def test_a_stored_report_is_decided_for_as_its_document_says(
    client: FlaskClient, operator: Operator, known_report: str
) -> None:
    operator.publish(policy={"exploration_bp": 1_000})
    document = client.get(f"/v1/decisions/camera/{known_report}").get_json()
    told = ask(client, report_id=known_report, request={"unit_id": "u-1"}).get_json()
    model = told["models"]["segmentation"]
    assert told["release"] == document["release"]
    assert model["splits"][[s["served"] for s in model["splits"]].index(True)]["ladder"] == model["ladder"]
    assert model["chosen"]["variant"] == document["models"]["segmentation"]["arms"][model["ladder"][0]]["variant"]


@pytest.mark.parametrize(
    ("first_bp", "unit_id", "reason", "starts_with"),
    [
        (3_000, None, "no-bucketing-key", "int8.tflite.cpu"),
        (9_000, None, "no-bucketing-key", "int8.tflite.cpu"),
        (10_000, None, None, "fp32.tflite.gpu"),
        (0, None, None, "int8.tflite.cpu"),
        (9_999, "u-1", None, "fp32.tflite.gpu"),
    ],
)
def test_without_a_unit_nobody_is_in_a_share_that_grows(
    client: FlaskClient,
    operator: Operator,
    known_report: str,
    first_bp: int,
    unit_id: str | None,
    reason: str | None,
    starts_with: str,
) -> None:
    shares = [{"weight_bp": first_bp, "ladder": ["*.gpu"]}, {"weight_bp": 10_000 - first_bp, "ladder": ["*.cpu"]}]
    operator.publish(policy={"rules": [{"id": "grows", "when": "true", "use": {"split": shares}}]})
    request = {"unit_id": unit_id} if unit_id else {}
    told = ask(client, report_id=known_report, request=request).get_json()["models"]["segmentation"]
    assert (told["reason"], told["ladder"][0]) == (reason, starts_with)


def test_a_report_can_be_sent_along_and_is_not_stored(client: FlaskClient, operator: Operator) -> None:
    operator.publish()
    told = ask(client, report=report_with()).get_json()
    assert told["models"]["segmentation"]["chosen"]["arm"] == NPU
    assert ask(client, report_id=report_id(make_report())).get_json()["code"] == "unknown-report"


def test_a_phone_is_explained_against_an_old_release(
    client: FlaskClient, operator: Operator, engine: Engine, known_report: str
) -> None:
    operator.publish("all may run")
    operator.publish("the NPU crashes", {"denies": [deny("no-npu", "*.nnapi.*")]})
    follow(client, engine)
    chosen = [
        ask(client, report_id=known_report, release=number).get_json()["models"]["segmentation"]["chosen"]["arm"]
        for number in (1, 2)
    ]
    assert chosen[0] == NPU
    assert "nnapi" not in chosen[1]


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({}, 422, "invalid-field", "report_id"),
        ({"report_id": "a" * 64, "report": {}}, 422, "invalid-field", "report_id"),
        ({"report_id": "a" * 64}, 404, "unknown-report", "report_id"),
        ({"report": {"device": {"serial": "x"}}}, 422, "unit-identifier", "device.serial"),
        ({"report": {"schema": 1}}, 422, "invalid-field", "device"),
        ({"report": report_with(), "model": "depth"}, 404, "unknown-model", "model"),
        ({"report": report_with(), "app": "gallery"}, 404, "unknown-app", "app"),
        ({"report": report_with(), "release": 9}, 404, "unknown-release", "release"),
        ({"report": report_with(), "release": 2**40}, 422, "invalid-field", "release"),
        ({"report": report_with(), "modell": "x"}, 422, "invalid-field", "modell"),
        ({"report": report_with(), "request": {"workload": "idle"}}, 422, "invalid-field", "request.workload"),
        ({"report": report_with(), "request": {"unit_id": ""}}, 422, "invalid-field", "request.unit_id"),
        ({"report": report_with(), "request": {"unit_id": "a\u0085b"}}, 422, "invalid-field", "request.unit_id"),
        ({"report": report_with(), "request": {"thermal": 3}}, 422, "invalid-field", "request.thermal"),
    ],
)
def test_what_cannot_be_answered_is_named(
    client: FlaskClient, operator: Operator, body: dict[str, Any], status: int, code: str, field: str
) -> None:
    operator.publish()
    answer = ask(client, **body)
    problem = answer.get_json()
    assert (answer.status_code, problem["code"], problem["field"]) == (status, code, field)


def test_before_the_first_release_there_is_nothing_to_explain(client: FlaskClient) -> None:
    assert ask(client, report=report_with()).get_json()["code"] == "unknown-release"


def test_old_releases_are_read_once_and_only_the_last_asked_are_kept(operator: Operator, engine: Engine) -> None:
    for number in range(KEPT + 1):
        operator.publish(f"release {number}")
    past = PastReleases(engine)
    first = past.release(1)
    assert past.release(1) is first
    for number in range(2, KEPT + 2):
        past.release(number)
    assert past.release(1) is not first
