"""Quarantines: evidence, owner, end; in a release at once, for both sides of a rollout, through every rollback (R-C5, R-E5)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from builders import deny, make_model_json
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine
from sqlmodel import Session

from service import clock
from service.identity.access import Scope
from service.identity.actor import Role
from service.identity.keyring import NewKey, create
from service.jobs.jobs import BY_NAME
from service.jobs.run import figures_of
from service.releasing.publishing import publish
from service.releasing.releases import load
from service.settings import Settings

NPU = "int8.tflite.nnapi.google-edgetpu"


def tomorrow() -> str:
    """Of the moment of asking: a run of all tests may go on past midnight."""
    return f"{clock.now() + timedelta(days=1):%Y-%m-%d}"


def quarantine(name: str = "bad-npu", *arms: str, **changes: Any) -> dict[str, Any]:
    held = {"app": "camera", "deny": deny(name, *(arms or ("*.google-edgetpu",)), until=tomorrow())}
    return held | {"evidence": ["golden check fails in 30 of 40 windows"], "owner": "anna"} | changes


def body(*arms: str, **changes: Any) -> dict[str, Any]:
    return {"quarantine": quarantine("bad-npu", *arms, **changes), "note": "wrong outputs"}


def arms(client: FlaskClient, engine: Engine, report_id: str) -> set[str]:
    """Every arm of the document that the phone gets now; empty where the model is left out."""
    content = load(engine)
    assert content is not None
    client.application.extensions["nnfleet"].lookup.swap(content)
    models = client.get(f"/v1/decisions/camera/{report_id}").get_json()["models"]
    return {key.partition("+")[0] for model in models.values() for key in model["arms"]}


def test_a_quarantine_is_in_the_next_release_at_once_and_in_the_explanation(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str
) -> None:
    operator.publish()
    assert NPU in arms(client, engine, known_report)
    answer = operator.send("POST", "/v1/quarantines", body())
    assert (answer.status_code, answer.get_json()["release"]) == (201, 2)
    assert NPU not in arms(client, engine, known_report)
    model = client.get(f"/v1/decisions/camera/{known_report}").get_json()["models"]["segmentation"]
    assert {"deny": "quarantine.bad-npu"} in model["because"]
    listed = operator.send("GET", "/v1/quarantines").get_json()["quarantines"]
    assert [(row["quarantine"]["owner"], row["quarantine"]["deny"]["until"]) for row in listed] == [
        ("anna", tomorrow())
    ]
    assert operator.send("GET", "/v1/releases/2").get_json()["diff"][0]["path"] == "/quarantines/bad-npu"


@pytest.mark.parametrize("missing", ["evidence", "owner", "until"])
def test_a_quarantine_without_evidence_owner_or_end_is_refused(operator: Operator, missing: str) -> None:
    held = quarantine()
    if missing == "until":
        held["deny"].pop("until")
    else:
        held.pop(missing)
    answer = operator.send("POST", "/v1/quarantines", {"quarantine": held, "note": "x"})
    assert (answer.status_code, answer.get_json()["code"]) == (422, "invalid-field")


def test_a_quarantine_survives_a_rollback_and_an_ordinary_release(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str
) -> None:
    operator.publish("one")
    operator.publish("two", latency_target_ms=20.0)
    operator.send("POST", "/v1/quarantines", body())
    operator.send("POST", "/v1/releases/1/roll-back", {"note": "back"})
    assert NPU not in arms(client, engine, known_report)
    operator.send("POST", "/v1/releases", {"note": "next"})
    assert NPU not in arms(client, engine, known_report)


def test_a_quarantine_holds_for_both_sides_of_a_rollout(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str
) -> None:
    operator.publish()
    operator.send("PUT", "/v1/models/camera/segmentation", make_model_json(latency_target_ms=20.0, family="other"))
    changed = [variant | {"size_bytes": 77} for variant in make_model_json()["variants"]]
    operator.send("PUT", "/v1/models/camera/segmentation", make_model_json(variants=changed))
    assert operator.send("POST", "/v1/rollouts", {"note": "x"}).status_code == 201
    assert NPU in arms(client, engine, known_report)
    assert operator.send("POST", "/v1/quarantines", body()).status_code == 201
    content = load(engine)
    assert content is not None
    assert content.staged is not None
    assert NPU not in arms(client, engine, known_report)


def test_a_quarantine_ends_by_hand_or_after_its_last_day(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str
) -> None:
    operator.publish()
    operator.send("POST", "/v1/quarantines", body())
    assert operator.send("POST", "/v1/quarantines/bad-npu/end", {"note": "mended"}).get_json() == {"release": 3}
    assert NPU in arms(client, engine, known_report)
    assert operator.send("POST", "/v1/quarantines/bad-npu/end", {"note": "again"}).status_code == 404
    operator.send("POST", "/v1/quarantines", body())
    publish(engine, "two days later", clock.now() + timedelta(days=2))
    assert operator.send("GET", "/v1/quarantines").get_json() == {"quarantines": []}
    assert NPU in arms(client, engine, known_report)


def test_the_guards_job_ends_a_quarantine_the_day_after_its_last(
    client: FlaskClient, engine: Engine, settings: Settings, operator: Operator, known_report: str
) -> None:
    operator.publish()
    operator.send("POST", "/v1/quarantines", body())
    for days, released in ((1, 2), (2, 3), (3, 3)):
        figures_of(BY_NAME["guard"].steps(engine, settings, clock.now() + timedelta(days=days)))
        assert operator.send("GET", "/v1/releases").get_json()["releases"][0]["release"] == released
    assert NPU in arms(client, engine, known_report)
    assert operator.send("GET", "/v1/revisions?kind=quarantine").get_json()["revisions"][0]["state"] == "ended"


def test_with_several_users_a_quarantine_is_live_the_moment_somebody_else_approves_it(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str
) -> None:
    operator.publish()
    headers = []
    for name in ("anna", "ben"):
        with Session(engine) as session, session.begin():
            key = NewKey(name, frozenset({Scope.MANAGE}), Role.APPROVER)
            headers.append({"Authorization": f"Bearer {create(session, key, 'test', clock.now())}"})
    proposed = client.post("/v1/quarantines", json=body(), headers=headers[0])
    assert (proposed.status_code, proposed.get_json()["release"]) == (202, None)
    assert NPU in arms(client, engine, known_report)
    path = f"/v1/revisions/{proposed.get_json()['revision']}/approve"
    assert client.post(path, json={"note": "mine"}, headers=headers[0]).get_json()["code"] == "self-approval"
    assert client.post(path, json={"note": "seen"}, headers=headers[1]).get_json()["state"] in {"approved", "live"}
    assert NPU not in arms(client, engine, known_report)


@pytest.mark.parametrize(
    ("switched", "name", "left"),
    [
        ({"app": "camera", "model": "segmentation", "arm": "*.google-edgetpu"}, "*.google-edgetpu", True),
        ({"arm": "*.google-edgetpu"}, "*.google-edgetpu", True),
        ({"app": "camera", "model": "segmentation"}, "segmentation", False),
        ({"app": "camera"}, "camera", False),
    ],
    ids=["an arm of a model", "an arm everywhere", "a model", "an app"],
)
def test_the_kill_switch_takes_arm_model_or_app_away_once_its_name_is_repeated(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str,
    switched: dict[str, str], name: str, left: bool,
) -> None:  # fmt: skip
    operator.publish()
    asked = switched | {"reason": "it hangs"}
    for confirm in ({}, {"confirm": "yes"}):
        refused = operator.send("POST", "/v1/kill", asked | confirm)
        assert (refused.status_code, refused.get_json()["field"]) == (422, "confirm")
    assert NPU in arms(client, engine, known_report)
    answer = operator.send("POST", "/v1/kill", asked | {"confirm": name})
    assert (answer.status_code, answer.get_json()["release"]) == (201, 2)
    assert answer.get_json()["review"]["self_approved"] == "a kill switch does not wait for a second person"
    now = arms(client, engine, known_report)
    assert (NPU in now, bool(now)) == (False, left)


def test_a_kill_switch_says_what_is_missing(operator: Operator) -> None:
    for asked, field in (
        ({"app": "a", "confirm": "a"}, "reason"),
        ({"model": "m", "reason": "x"}, "app"),
        ({"reason": "x"}, "confirm"),
        ({"app": 3}, "app"),
    ):
        assert operator.send("POST", "/v1/kill", asked).get_json()["field"] == field


@pytest.mark.parametrize(
    ("switched", "name", "field", "meant"),
    [
        ({"app": "camra"}, "camra", "app", "camera"),
        ({"app": "camra", "model": "segmentation"}, "segmentation", "app", "camera"),
        ({"app": "camera", "model": "segmentatoin"}, "segmentatoin", "model", "segmentation"),
        ({"app": "camra", "arm": NPU}, NPU, "app", "camera"),
    ],
)
def test_a_kill_switch_with_a_misspelt_name_says_so_and_switches_nothing(
    operator: Operator, switched: dict[str, str], name: str, field: str, meant: str
) -> None:
    operator.publish()
    refused = operator.send("POST", "/v1/kill", switched | {"reason": "it hangs", "confirm": name})
    assert (refused.status_code, refused.get_json()["field"]) == (404, field)
    assert f"did you mean `{meant}`?" in refused.get_json()["detail"]
    assert len(operator.send("GET", "/v1/releases").get_json()["releases"]) == 1


@pytest.mark.parametrize(
    ("arm", "meant"),
    [
        ("nnapi-*-int8", None),
        ("int8.tflite.nnapi.google-edgtpu", NPU),  # a driver there is, misspelt
        ("int8.onnx.cpu", "int8.tflite.cpu"),  # an arm there could be, of no file of these models
        ("int8.tflite.nnapi.qti-dsp", None),  # a driver of no phone that has reported
    ],
)
def test_a_kill_switch_of_an_arm_that_no_phone_runs_says_so_and_switches_nothing(
    operator: Operator, known_report: str, arm: str, meant: str | None
) -> None:
    operator.publish()
    for scope in ({}, {"app": "camera"}, {"app": "camera", "model": "segmentation"}):
        asked = scope | {"arm": arm, "reason": "it hangs", "confirm": arm}
        problem = operator.send("POST", "/v1/kill", asked).get_json()
        assert (problem["status"], problem["field"]) == (422, "arm")
        assert meant is None or problem["nearest"] == meant
    assert len(operator.send("GET", "/v1/releases").get_json()["releases"]) == 1


def test_a_kill_switch_reaches_what_is_live_after_another_model_was_approved(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str
) -> None:
    operator.publish()
    only_float = [variant for variant in make_model_json()["variants"] if variant["precision"] != "int8"]
    operator.send("PUT", "/v1/models/camera/segmentation", make_model_json(variants=only_float))
    asked = {"arm": NPU, "reason": "it hangs", "confirm": NPU}
    assert operator.send("POST", "/v1/kill", asked).status_code == 201
    assert NPU not in arms(client, engine, known_report)


def test_a_quarantine_of_arms_that_cannot_be_is_refused_and_one_of_a_driver_to_come_is_taken(
    operator: Operator,
) -> None:
    operator.publish()
    refused = operator.send("POST", "/v1/quarantines", body("*.google-edgetpu", "nnapi-*-int8")).get_json()
    assert (refused["status"], refused["field"]) == (422, "deny.arms.1")
    assert "{precision}.{format}.{delegate}" in refused["expected"]
    misspelt = operator.send("POST", "/v1/quarantines", body("int8.tflit.nnapi.*")).get_json()
    assert (misspelt["field"], misspelt["nearest"]) == ("deny.arms.0", "tflite")
    stated = {"kind": "quarantine", "content": quarantine("bad-npu", "nnapi-*-int8")}
    for path, more in (("/v1/revisions", {"note": "x"}), ("/v1/simulations", {})):
        assert operator.send("POST", path, stated | more).get_json()["field"] == "deny.arms.0"
    assert operator.send("POST", "/v1/quarantines", body("*.nnapi.driver-of-next-year")).status_code == 201


@pytest.mark.parametrize(
    ("changes", "models", "field", "meant"),
    [
        ({"app": "camra"}, (), "app", "camera"),
        ({}, ("segmentatoin",), "deny.models", "segmentation"),
        ({"app": None}, ("segmentatoin",), "deny.models", "segmentation"),
    ],
)
def test_a_quarantine_of_a_misspelt_app_or_model_is_refused(
    operator: Operator, changes: dict[str, Any], models: tuple[str, ...], field: str, meant: str
) -> None:
    operator.publish()
    held = quarantine(**changes)
    held["deny"]["models"] = list(models)
    refused = operator.send("POST", "/v1/quarantines", {"quarantine": held, "note": "x"}).get_json()
    assert (refused["status"], refused["field"]) == (404, field)
    assert f"did you mean `{meant}`?" in refused["detail"]
    draft = operator.send("POST", "/v1/revisions", {"kind": "quarantine", "content": held, "note": "x"}).get_json()
    operator.send("POST", f"/v1/revisions/{draft['revision']}/submit", {"note": "x"})
    late = operator.send("POST", f"/v1/revisions/{draft['revision']}/approve", {"note": "x"})
    assert late.get_json()["field"] == field


def test_a_quarantine_whose_last_day_is_over_is_refused(engine: Engine, operator: Operator) -> None:
    operator.publish()
    held = quarantine()
    held["deny"]["until"] = f"{clock.now() - timedelta(days=1):%Y-%m-%d}"
    refused = operator.send("POST", "/v1/quarantines", {"quarantine": held, "note": "wrong year"})
    assert (refused.status_code, refused.get_json()["field"]) == (422, "deny.until")
    draft = operator.send("POST", "/v1/revisions", {"kind": "quarantine", "content": held, "note": "x"}).get_json()
    operator.send("POST", f"/v1/revisions/{draft['revision']}/submit", {"note": "x"})
    late = operator.send("POST", f"/v1/revisions/{draft['revision']}/approve", {"note": "x"})
    assert (late.status_code, late.get_json()["field"]) == (422, "deny.until")
    assert len(operator.send("GET", "/v1/releases").get_json()["releases"]) == 1
