"""The management API: shut without its token, exact about typos, numbered releases (R-F1)."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from builders import deny, make_model_json, make_variant
from flask.testing import FlaskClient
from operating import TOKEN, Operator
from sqlalchemy import Engine

from service import clock
from service.app import create_app
from service.releasing.publishing import publish
from service.releasing.releases import load
from service.settings import Settings

MODEL, POLICY, RELEASES = "/v1/models/camera/segmentation", "/v1/policies/camera", "/v1/releases"


@pytest.mark.parametrize("given", [None, "Bearer", "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer té"])
@pytest.mark.parametrize(("method", "path"), [("PUT", MODEL), ("PUT", POLICY), ("POST", RELEASES), ("GET", RELEASES)])
def test_without_the_token_every_door_is_shut(client: FlaskClient, method: str, path: str, given: str | None) -> None:
    answer = client.open(path, method=method, json={}, headers={"Authorization": given} if given else {})
    assert (answer.status_code, answer.get_json()["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize("token", [None, ""])
def test_an_installation_without_a_token_is_shut_to_all(settings: Settings, engine: Engine, token: str | None) -> None:
    app = create_app(Settings(settings.database_url, manage_token=token), engine)
    answer = app.test_client().get(RELEASES, headers={"Authorization": "Bearer "})
    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (POLICY, {"schema": 1, "app": "camera", "exploration": 5}, "exploration"),
        (
            POLICY,
            {"schema": 1, "app": "camera", "denies": [deny("q", "*") | {"cohort": {"soc": []}}]},
            "denies.0.cohort.soc",
        ),
        (POLICY, {"schema": 1, "app": "camera", "exploration_bp": 10_001}, "exploration_bp"),
        (POLICY, {"schema": 1, "app": "gallery"}, "app"),
        (MODEL, make_model_json(latency_ms=3), "latency_ms"),
        (MODEL, make_model_json(name="detection"), "name"),
        (MODEL, make_model_json(variants=[make_variant(bytes=3)]), "variants.0.bytes"),
        (MODEL, make_model_json(variants=[]), "variants"),
        (MODEL, make_model_json(variants=[make_variant(graph={"nodes": 3})]), "variants.0.graph"),
    ],
)
def test_what_an_operator_mistypes_is_refused_with_its_field(
    operator: Operator, path: str, body: Any, field: str
) -> None:
    answer = operator.send("PUT", path, body)
    assert (answer.status_code, answer.get_json()["code"]) == (422, "invalid-field")
    assert answer.get_json()["field"] == field


@pytest.mark.parametrize("body", [{}, {"note": ""}, {"note": 3}, {"note": "x" * 501}, {"note": "x", "when": "now"}, []])
def test_a_release_needs_a_note_and_takes_nothing_else(operator: Operator, engine: Engine, body: Any) -> None:
    assert operator.send("POST", RELEASES, body).status_code == 422
    assert load(engine) is None


def test_releases_are_numbered_and_listed_from_the_newest(operator: Operator) -> None:
    assert [operator.publish("one"), operator.publish("two", latency_target_ms=20.0)] == [1, 2]
    listed = operator.send("GET", RELEASES).get_json()["releases"]
    assert [(row["release"], row["note"]) for row in listed] == [(2, "two"), (1, "one")]
    assert listed[0]["sha256"] != listed[1]["sha256"]


def test_the_same_content_has_the_same_digest_under_another_number(operator: Operator) -> None:
    operator.publish("one")
    operator.publish("undo")
    listed = operator.send("GET", RELEASES).get_json()["releases"]
    assert listed[0]["sha256"] == listed[1]["sha256"]


def test_a_release_holds_what_was_stored_when_it_was_published(operator: Operator, engine: Engine) -> None:
    operator.publish(latency_target_ms=20.0)
    operator.send("PUT", MODEL, make_model_json(latency_target_ms=10.0))
    content = load(engine, 1)
    assert content is not None
    assert [model.latency_target_ms for model in content.models["camera"]] == [20.0]


def test_publishers_at_once_get_a_number_each(engine: Engine, operator: Operator) -> None:
    operator.publish()
    numbers: list[int] = []
    ready = threading.Barrier(4)

    def go() -> None:
        ready.wait(timeout=60)
        numbers.append(publish(engine, "at once", clock.now()))

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(numbers) == [2, 3, 4, 5]


def test_a_policy_in_yaml_is_stored_as_it_would_be_in_json(client: FlaskClient) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/yaml"}
    good = b"app: camera\nrules:\n- {id: r, when: 'device.api_level >= 30', use: learned}\n"
    assert client.put(POLICY, data=good, headers=headers).get_json()["rules"][0]["use"] == "learned"
    answer = client.put(POLICY, data=good.replace(b"api_level", b"api_levle"), headers=headers)
    assert answer.status_code == 422
    told = answer.get_json()
    assert (told["code"], told["field"]) == ("invalid-condition", "rules.0.when")
    assert (told["line"], told["column"], told["nearest"]) == (3, 25, "api_level")
