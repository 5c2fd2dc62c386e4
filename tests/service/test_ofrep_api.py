"""OFREP: flags `{app}.{model}`, errors and validators as OpenFeature's clients read them (R-F6)."""

from __future__ import annotations

from typing import Any

import pytest
from builders import deny, make_model_json, report_with
from flask import Flask
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine
from werkzeug.exceptions import TooManyRequests

from policies.assign import bucket, choose
from service.app import create_app
from service.releasing.releases import load
from service.settings import Settings

FLAGS = "/ofrep/v1/evaluate/flags"
NPU = "int8.tflite.nnapi.google-edgetpu"
SPLIT = {"exploration_bp": 1_000}


def evaluate(client: FlaskClient, key: str | None = None, etag: str | None = None, **context: Any) -> Any:
    path = f"{FLAGS}/{key}" if key else FLAGS
    return client.post(path, json={"context": context}, headers={"If-None-Match": etag} if etag else {})


def register(operator: Operator, app: str, name: str) -> None:
    assert operator.send("PUT", f"/v1/models/{app}/{name}", make_model_json(app=app, name=name)).status_code == 200
    assert operator.send("PUT", f"/v1/policies/{app}", {"app": app}).status_code == 200


def test_a_flag_is_the_arm_that_the_phone_starts_with(
    client: FlaskClient, operator: Operator, known_report: str
) -> None:
    operator.publish()
    told = evaluate(client, "camera.segmentation", report_id=known_report).get_json()
    document = client.get(f"/v1/decisions/camera/{known_report}").get_json()["models"]["segmentation"]
    [split] = document["plans"]["main"]["splits"]
    assert (told["key"], told["variant"], told["reason"]) == ("camera.segmentation", NPU, "TARGETING_MATCH")
    assert told["value"] == document["arms"][NPU] | {"arm": NPU, "ladder": split["ladder"]}
    assert told["metadata"] == {"release": 1, "plan": "main", "rule": "out-of-the-box", "propensity": 1.0}


def test_a_split_is_drawn_by_the_same_bucket_as_on_the_phone(
    client: FlaskClient, operator: Operator, known_report: str
) -> None:
    operator.publish(policy=SPLIT)
    told = evaluate(client, "camera.segmentation", report_id=known_report, targetingKey="unit-7").get_json()
    assert told["reason"] == "SPLIT"
    assert told["metadata"]["bucket"] == bucket("camera.segmentation", "unit-7")
    shares = client.get(f"/v1/decisions/camera/{known_report}").get_json()["models"]["segmentation"]["plans"]["main"]
    assert told["metadata"]["propensity"] in {split["weight"] / 10_000 for split in shares["splits"]}


@pytest.mark.parametrize("key", [{}, {"targetingKey": ""}, {"targetingKey": None}])
def test_only_a_split_needs_a_targeting_key(
    client: FlaskClient, operator: Operator, engine: Engine, known_report: str, key: dict[str, Any]
) -> None:
    operator.publish()
    assert evaluate(client, "camera.segmentation", report_id=known_report, **key).status_code == 200
    operator.publish(policy=SPLIT)
    _follow(client, engine)
    answer = evaluate(client, "camera.segmentation", report_id=known_report, **key)
    assert (answer.status_code, answer.get_json()["errorCode"]) == (400, "TARGETING_KEY_MISSING")


def test_a_report_can_stand_in_the_context(client: FlaskClient, operator: Operator) -> None:
    operator.publish()
    told = evaluate(client, "camera.segmentation", report=report_with(), workload="sustained", email="a@b.example")
    assert told.get_json()["variant"] == NPU


def test_a_phone_that_may_run_nothing_leaves_the_value_to_the_code(
    client: FlaskClient, operator: Operator, known_report: str
) -> None:
    operator.publish(policy={"denies": [deny("all-off", "*")]})
    told = evaluate(client, "camera.segmentation", report_id=known_report).get_json()
    assert "value" not in told
    assert (told["variant"], told["reason"]) == ("", "DISABLED")


def test_names_with_dots_are_resolved_by_what_is_registered(client: FlaskClient, operator: Operator) -> None:
    register(operator, "com.example.camera", "face.v1")
    register(operator, "com", "example.detector")
    operator.publish()
    for key in ("com.example.camera.face.v1", "com.example.detector"):
        assert evaluate(client, key, report=report_with()).get_json()["key"] == key
    assert evaluate(client, "com.example.camera", report=report_with()).status_code == 404


@pytest.mark.parametrize(
    ("key", "body", "status", "code"),
    [
        ("camera.depth", {"context": {"report": report_with()}}, 404, "FLAG_NOT_FOUND"),
        ("nothing", {}, 404, "FLAG_NOT_FOUND"),
        ("camera.segmentation", {}, 400, "INVALID_CONTEXT"),
        ("camera.segmentation", {"context": {"report_id": "a" * 64}}, 400, "INVALID_CONTEXT"),
        ("camera.segmentation", {"context": {"report": report_with(), "workload": "idle"}}, 400, "INVALID_CONTEXT"),
        ("camera.segmentation", {"context": {"report": {"imei": "1"}}}, 400, "INVALID_CONTEXT"),
        ("camera.segmentation", {"context": [1]}, 400, "INVALID_CONTEXT"),
        ("camera.segmentation", {"context": []}, 400, "INVALID_CONTEXT"),
        ("camera.segmentation", {"context": False}, 400, "INVALID_CONTEXT"),
        ("camera.segmentation", {"context": {"targetingKey": 7, "report": report_with()}}, 400, "INVALID_CONTEXT"),
        ("camera.segmentation", {"context": {"targetingKey": "a\nb", "report": report_with()}}, 400, "INVALID_CONTEXT"),
        ("camera.segmentation", b"{", 400, "PARSE_ERROR"),
        ("camera.segmentation", b"[]", 400, "PARSE_ERROR"),
        ("camera.segmentation", b'{"context": ' + b"[" * 50 + b"]" * 50 + b"}", 400, "PARSE_ERROR"),
        ("camera.segmentation", b" " * 300_000, 400, "PARSE_ERROR"),
    ],
)
def test_errors_are_those_of_the_protocol(
    client: FlaskClient, operator: Operator, key: str, body: Any, status: int, code: str
) -> None:
    operator.publish()
    data = {"data": body} if isinstance(body, bytes) else {"json": body}
    answer = client.post(f"{FLAGS}/{key}", **data)
    told = answer.get_json()
    assert (answer.status_code, answer.mimetype) == (status, "application/json")
    assert (told["key"], told["errorCode"]) == (key, code)
    assert told["errorDetails"]


def test_all_flags_come_at_once_and_one_that_fails_keeps_no_other_back(
    client: FlaskClient, operator: Operator, known_report: str
) -> None:
    register(operator, "gallery", "tags")
    operator.publish(policy=SPLIT)
    told = evaluate(client, report_id=known_report).get_json()
    by_key = {flag["key"]: flag for flag in told["flags"]}
    assert by_key["camera.segmentation"]["errorCode"] == "TARGETING_KEY_MISSING"
    assert by_key["gallery.tags"]["variant"] == NPU


def test_all_flags_of_a_phone_nobody_knows_say_so_each(client: FlaskClient, operator: Operator) -> None:
    operator.publish()
    [told] = evaluate(client, report_id="a" * 64).get_json()["flags"]
    assert (told["key"], told["errorCode"]) == ("camera.segmentation", "INVALID_CONTEXT")


def test_an_app_asks_for_its_own_flags(client: FlaskClient, operator: Operator) -> None:
    register(operator, "gallery", "tags")
    operator.publish()
    told = evaluate(client, report=report_with(), app="gallery").get_json()
    assert [flag["key"] for flag in told["flags"]] == ["gallery.tags"]
    assert evaluate(client, report=report_with(), app="unheard-of").get_json()["flags"] == []


@pytest.mark.parametrize("key", [None, "camera.segmentation"])
def test_the_etag_covers_context_and_release(
    client: FlaskClient, operator: Operator, engine: Engine, key: str | None
) -> None:
    operator.publish()
    context = {"report": report_with(), "email": "a@b.example"}
    etag = evaluate(client, key, **context).headers["ETag"]
    unchanged = evaluate(client, key, etag, **context)
    assert (unchanged.status_code, unchanged.data, unchanged.headers["ETag"]) == (304, b"", etag)
    assert evaluate(client, key, etag, **context | {"email": "c@d.example"}).status_code == 200
    operator.publish("the same again")
    _follow(client, engine)
    assert evaluate(client, key, etag, **context).status_code == 200


def _follow(client: FlaskClient, engine: Engine) -> None:
    content = load(engine)
    assert content is not None
    client.application.extensions["nnfleet"].lookup.swap(content)


def test_before_the_first_release_there_are_no_flags(client: FlaskClient) -> None:
    for key in (None, "camera.segmentation"):
        answer = evaluate(client, key)
        assert (answer.status_code, answer.get_json()["errorCode"]) == (404, "FLAG_NOT_FOUND")


def test_a_database_that_is_away_is_a_wait_of_whole_seconds() -> None:
    away = create_app(Settings("postgresql://nobody@127.0.0.1:1/none")).test_client()
    answer = away.post(f"{FLAGS}/camera.segmentation", json={})
    assert (answer.status_code, answer.get_json()["errorCode"]) == (503, "GENERAL")
    assert int(answer.headers["Retry-After"]) > 0


def test_what_is_wrong_beside_the_protocol_keeps_its_status_and_headers(own_app: Flask) -> None:
    @own_app.before_request
    def _overloaded() -> None:
        raise TooManyRequests(retry_after=7)

    answer = evaluate(own_app.test_client(), "camera.segmentation")
    assert (answer.status_code, answer.get_json()["errorCode"]) == (429, "GENERAL")
    assert answer.headers["Retry-After"] == "7"


def state(operator: Operator, app: str = "camera", **flags: Any) -> Any:
    return operator.send("PUT", f"/v1/flags/{app}", {"app": app, "flags": flags})


NIGHT = {
    "variants": {"on": True, "off": False},
    "default_variant": "off",
    "rules": [
        {"id": "germans", "when": "request.country == 'DE'", "variant": "on"},
        {"id": "tensor", "when": "device.soc == 'tensor-g4'", "variant": "on"},
    ],
}


def test_plain_flags_live_from_the_next_release_on(client: FlaskClient, operator: Operator) -> None:
    assert state(operator, night=NIGHT).status_code == 200
    operator.publish()
    told = evaluate(client, "camera.night", country="DE").get_json()
    assert (told["value"], told["variant"], told["reason"]) == (True, "on", "TARGETING_MATCH")
    assert told["metadata"] == {"release": 1, "rule": "germans"}


def test_what_was_stated_can_be_read_with_the_tag_that_an_edit_names(operator: Operator) -> None:
    stated = state(operator, night=NIGHT)
    read = operator.send("GET", "/v1/flags/camera")
    assert read.get_json() == stated.get_json()
    assert read.headers["ETag"] == stated.headers["ETag"]
    assert operator.send("GET", "/v1/flags/gallery").get_json()["code"] == "unknown-app"


def test_the_name_of_a_flag_is_enough_where_the_context_names_the_app(client: FlaskClient, operator: Operator) -> None:
    state(operator, night=NIGHT)
    operator.publish()
    assert evaluate(client, "night", app="camera").get_json()["key"] == "night"
    assert evaluate(client, "night").status_code == 404
    assert evaluate(client, "night", app="gallery").status_code == 404


def test_plain_flags_need_no_phone_and_hear_of_one_that_is_named(
    client: FlaskClient, operator: Operator, known_report: str
) -> None:
    state(operator, night=NIGHT)
    operator.publish()
    assert evaluate(client, "camera.night", report_id=known_report).get_json()["metadata"]["rule"] == "tensor"
    for context in ({}, {"report_id": "a" * 64}):
        told = evaluate(client, "camera.night", **context).get_json()
        assert (told["variant"], told["reason"]) == ("off", "DEFAULT")
        assert told["metadata"]["unknown"] == "request.country, device.soc"


def test_all_flags_are_models_and_plain_flags_and_a_model_goes_before_a_flag_of_its_name(
    client: FlaskClient, operator: Operator
) -> None:
    state(operator, night=NIGHT, segmentation=NIGHT)
    operator.publish()
    flags = evaluate(client, report=report_with()).get_json()["flags"]
    assert [flag["key"] for flag in flags] == ["camera.segmentation", "camera.night"]
    assert flags[0]["variant"] == NPU


def test_an_app_may_have_flags_and_no_models(client: FlaskClient, operator: Operator) -> None:
    state(operator, app="web.shop", night=NIGHT)
    operator.publish()
    assert evaluate(client, "web.shop.night", country="FR").get_json()["variant"] == "off"


def test_attributes_that_no_condition_could_hold_are_left_alone(client: FlaskClient, operator: Operator) -> None:
    state(operator, night=NIGHT)
    operator.publish()
    odd = {"country": ["DE"], "x" * 200: 1, "long": "x" * 2_000, "deep": {"a": {}}, "huge": 10**30, "none": None}
    told = evaluate(client, "camera.night", **odd, **{f"n{number}": number for number in range(100)})
    assert (told.status_code, told.get_json()["variant"]) == (200, "off")


def test_a_new_release_shows_what_changed_of_the_flags(operator: Operator) -> None:
    state(operator, night=NIGHT)
    operator.publish()
    state(operator, night=NIGHT | {"default_variant": "on"})
    operator.send("POST", "/v1/releases", {"note": "night for all"})
    changes = operator.send("GET", "/v1/releases/2").get_json()["diff"]
    assert [change["path"] for change in changes] == ["/flags/camera/flags/night/default_variant"]


def test_in_a_rollout_a_unit_gets_what_its_document_gives_it(
    client: FlaskClient, operator: Operator, engine: Engine, known_report: str
) -> None:
    operator.publish()
    newer = [variant | {"size_bytes": 500} for variant in make_model_json()["variants"]]
    operator.send("PUT", "/v1/models/camera/segmentation", make_model_json(variants=newer))
    steps = [{"share_bp": 5_000, "min_minutes": 0, "min_windows": 20}]
    assert operator.send("POST", "/v1/rollouts", {"note": "smaller files", "steps": steps}).status_code == 201
    _follow(client, engine)
    served = client.get(f"/v1/decisions/camera/{known_report}").get_json()["models"]["segmentation"]
    sides = set()
    for unit in ("a", "b", "c", "d", "e", "f"):
        told = evaluate(client, "camera.segmentation", report_id=known_report, targetingKey=unit).get_json()
        number = choose([split["weight"] for split in served["plans"]["main"]["splits"]], told["metadata"]["bucket"])
        assert told["value"]["ladder"] == served["plans"]["main"]["splits"][number or 0]["ladder"]
        assert told["value"]["variant"] == served["arms"][told["variant"]]["variant"]
        assert told["metadata"]["propensity"] == 0.5
        sides.add(told["metadata"].get("side"))
    assert sides == {None, "candidate"}


def test_in_a_rollout_a_share_of_units_gets_the_new_plain_flag_until_it_is_aborted(
    client: FlaskClient, operator: Operator, engine: Engine
) -> None:
    state(operator, night=NIGHT, day=NIGHT)
    operator.publish()
    state(operator, night=NIGHT | {"default_variant": "on"}, day=NIGHT, dusk=NIGHT)
    steps = [{"share_bp": 5_000, "min_minutes": 0, "min_windows": 1}]
    assert operator.send("POST", "/v1/rollouts", {"note": "night for all", "steps": steps}).status_code == 201
    _follow(client, engine)
    seen = [evaluate(client, "camera.night", targetingKey=unit).get_json() for unit in "abcdefgh"]
    assert {(told["variant"], told["metadata"].get("side")) for told in seen} == {("on", "candidate"), ("off", None)}
    assert evaluate(client, "camera.night").get_json()["variant"] == "off"
    assert "side" not in evaluate(client, "camera.day", targetingKey="a").get_json()["metadata"]
    assert evaluate(client, "camera.dusk", targetingKey="a").status_code == 404
    operator.send("POST", "/v1/rollouts/1/abort", {"note": "seen enough"})
    _follow(client, engine)
    assert {evaluate(client, "camera.night", targetingKey=unit).get_json()["variant"] for unit in "abcdefgh"} == {"off"}
