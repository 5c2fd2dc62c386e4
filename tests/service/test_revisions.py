"""Revisions over HTTP: reviewed by somebody else, nothing overwritten, everything that was live can return (R-F1)."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from builders import deny, make_model_json, make_variant
from flask.testing import FlaskClient
from operating import TOKEN, Operator
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from service import clock
from service.identity.access import Scope
from service.identity.actor import Role
from service.identity.keyring import NewKey, create
from service.releasing.releases import load
from service.releasing.revisions import recommend

POLICY = "/v1/policies/camera"


class Person:
    """Somebody with a key of their own."""

    def __init__(self, client: FlaskClient, engine: Engine, name: str, role: Role) -> None:
        self._client = client
        with Session(engine) as session, session.begin():
            self._secret = create(session, NewKey(name, frozenset({Scope.MANAGE}), role), "test", clock.now())

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        known = {"Authorization": f"Bearer {self._secret}"} | {k.replace("_", "-"): v for k, v in headers.items()}
        return self._client.open(path, method=method, json=body, headers=known)

    def take(self, revision: int, step: str) -> Any:
        return self.send("POST", f"/v1/revisions/{revision}/{step}", {"note": step})


@pytest.fixture
def anna(client: FlaskClient, engine: Engine) -> Person:
    return Person(client, engine, "anna", Role.APPROVER)


@pytest.fixture
def ben(client: FlaskClient, engine: Engine) -> Person:
    return Person(client, engine, "ben", Role.APPROVER)


def policy(**changes: Any) -> dict[str, Any]:
    return {"schema": 1, "app": "camera"} | changes


def draft(**changes: Any) -> dict[str, Any]:
    return {"kind": "policy", "content": policy(**changes), "note": "why"}


def explored(engine: Engine) -> int:
    content = load(engine)
    assert content is not None
    return content.documents["camera"].exploration_bp


def test_a_revision_walks_from_draft_to_live_with_a_second_pair_of_eyes(
    anna: Person, ben: Person, engine: Engine
) -> None:
    saved = anna.send("POST", "/v1/revisions", draft(exploration_bp=100))
    number = saved.get_json()["revision"]
    assert (saved.status_code, saved.get_json()["state"]) == (201, "draft")
    assert anna.take(number, "submit").get_json()["state"] == "in-review"
    refused = anna.take(number, "approve")
    assert (refused.status_code, refused.get_json()["code"]) == (403, "self-approval")
    approved = ben.take(number, "approve").get_json()
    assert (approved["state"], approved["review"]["reviewer"]) == ("approved", "ben")
    assert approved["review"]["self_approved"] is None
    assert ben.send("POST", "/v1/releases", {"note": "go"}).get_json() == {"release": 1}
    shown = ben.send("GET", f"/v1/revisions/{number}").get_json()
    assert (shown["state"], shown["content"]["exploration_bp"], explored(engine)) == ("live", 100, 100)


def test_what_nobody_approved_is_in_no_release(anna: Person, ben: Person, engine: Engine) -> None:
    anna.send("PUT", POLICY, policy())
    ben.take(1, "approve")
    anna.send("PUT", POLICY, policy(exploration_bp=700), If_Match='"1"')
    ben.send("POST", "/v1/releases", {"note": "go"})
    assert explored(engine) == 0


def test_the_only_user_approves_alone_and_the_answer_says_so(operator: Operator) -> None:
    answer = operator.send("PUT", POLICY, policy())
    assert (answer.status_code, answer.get_json()["app"]) == (200, "camera")
    assert answer.headers["Nnfleet-Review"] == "approved; by its author, as the installation has one user"
    shown = operator.send("GET", answer.headers["Location"]).get_json()
    assert shown["review"]["self_approved"] == "the installation has one user"


def test_the_second_of_two_editors_is_told_and_nothing_is_overwritten(
    anna: Person, ben: Person, engine: Engine
) -> None:
    first = anna.send("PUT", POLICY, policy())
    tag = first.headers["ETag"]
    assert anna.send("PUT", POLICY, policy(exploration_bp=1), If_Match=tag).status_code == 202
    second = ben.send("PUT", POLICY, policy(exploration_bp=2), If_Match=tag)
    problem = second.get_json()
    assert (second.status_code, problem["code"]) == (409, "edit-conflict")
    assert "anna saved revision 2" in problem["detail"]
    assert "/exploration_bp" in problem["detail"]
    assert ben.send("GET", POLICY).get_json()["exploration_bp"] == 1
    assert ben.send("POST", "/v1/revisions", draft() | {"base": 1}).status_code == 409
    saved = [row["subject"] for row in ben.send("GET", "/v1/audit").get_json()["audit"] if "saved" in row["action"]]
    assert saved == ["policy:camera", "policy:camera"]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (POLICY, {"schema": 1, "app": "camera"}),
        ("/v1/models/camera/segmentation", make_model_json()),
        ("/v1/flags/camera", {"app": "camera", "flags": {}}),
    ],
)
def test_an_edit_that_says_that_nothing_stands_overwrites_nothing(
    client: FlaskClient, path: str, content: dict[str, Any]
) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "If-None-Match": "*"}
    new, again = (client.put(path, json=content, headers=headers) for _ in range(2))
    assert (new.status_code, again.status_code) == (200, 409)
    assert (again.get_json()["code"], again.get_json()["field"]) == ("edit-conflict", "If-None-Match")
    assert client.get(path, headers={"Authorization": f"Bearer {TOKEN}"}).headers["ETag"] == new.headers["ETag"]


def test_editors_at_the_same_moment_cannot_both_win(
    client: FlaskClient, anna: Person, ben: Person, engine: Engine
) -> None:
    tag = anna.send("PUT", POLICY, policy()).headers["ETag"]
    ready, codes = threading.Barrier(2), []

    def save(person: Person, exploration_bp: int) -> None:
        ready.wait(timeout=60)
        answer = person.send("PUT", POLICY, policy(exploration_bp=exploration_bp), If_Match=tag)
        codes.append(answer.status_code)

    threads = [threading.Thread(target=save, args=pair) for pair in ((anna, 1), (ben, 2))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(codes) == [202, 409]


def test_an_edit_that_names_no_base_is_refused_where_there_are_several_users(anna: Person) -> None:
    assert anna.send("PUT", POLICY, policy()).status_code == 202
    blind = anna.send("PUT", POLICY, policy(exploration_bp=1))
    assert (blind.status_code, blind.get_json()["code"]) == (428, "base-required")
    strange = anna.send("PUT", POLICY, policy(), If_Match="*")
    assert (strange.status_code, strange.get_json()["field"]) == (422, "If-Match")


def test_an_older_revision_cannot_be_approved_over_a_newer_one(anna: Person, ben: Person) -> None:
    anna.send("PUT", POLICY, policy(exploration_bp=1))
    anna.send("PUT", POLICY, policy(exploration_bp=2), If_Match='"1"')
    assert ben.take(2, "approve").status_code == 200
    late = ben.take(1, "approve")
    assert (late.status_code, late.get_json()["code"]) == (409, "wrong-state")


@pytest.mark.parametrize("step", ["approve", "reject"])
def test_reviewing_needs_the_role_of_an_approver(client: FlaskClient, engine: Engine, anna: Person, step: str) -> None:
    anna.send("PUT", POLICY, policy())
    carla = Person(client, engine, "carla", Role.OPERATOR)
    assert (carla.take(1, step).status_code, carla.take(1, "withdraw").status_code) == (403, 200)


def test_a_rejected_edit_leaves_what_was_there_before(anna: Person, ben: Person) -> None:
    anna.send("PUT", POLICY, policy())
    ben.take(1, "approve")
    anna.send("PUT", POLICY, policy(exploration_bp=9), If_Match='"1"')
    assert ben.take(2, "reject").get_json()["state"] == "rejected"
    now = anna.send("GET", POLICY)
    assert (now.get_json()["exploration_bp"], now.headers["ETag"]) == (0, '"1"')
    assert ben.take(2, "approve").status_code == 409


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "wish", "content": {}, "note": "x"}, "kind"),
        ({"kind": "policy", "content": {"app": "camera", "typo": 1}, "note": "x"}, "typo"),
        (
            {"kind": "policy", "content": policy(denies=[deny("q", "*.nnapy.*")]), "note": "x"},
            "denies.0.arms.0",
        ),
        (
            {
                "kind": "model",
                "content": make_model_json(variants=[make_variant("fp16", "qnn-context", targets=["qcs6490"])]),
                "note": "x",
            },
            "variants.0.targets",
        ),
        ({"kind": "policy", "content": policy(), "note": ""}, "note"),
        ({"kind": "policy", "content": policy(), "note": "x", "base": "1"}, "base"),
        ({"kind": "policy", "content": policy(), "note": "x", "when": 1}, "when"),
        (
            {"kind": "quarantine", "content": {"deny": deny("q", "*"), "evidence": ["x"], "owner": "a"}, "note": "x"},
            None,
        ),
    ],
)
def test_a_mistyped_revision_is_refused_with_its_field(operator: Operator, body: Any, field: str | None) -> None:
    answer = operator.send("POST", "/v1/revisions", body)
    assert answer.status_code == 422
    assert answer.get_json()["field"] == (field or "Quarantine")


def test_a_revision_shows_what_it_would_change(operator: Operator) -> None:
    operator.send("PUT", POLICY, policy(exploration_bp=1))
    saved = operator.send("POST", "/v1/revisions", draft(exploration_bp=2) | {"base": 1}).get_json()
    changes = operator.send("GET", f"/v1/revisions/{saved['revision']}").get_json()["changes"]
    assert changes == [{"path": "/exploration_bp", "before": 1, "after": 2}]
    listed = operator.send("GET", "/v1/revisions?kind=policy&state=draft").get_json()["revisions"]
    assert [row["revision"] for row in listed] == [saved["revision"]]


def test_the_database_refuses_to_change_what_a_revision_or_a_release_says(engine: Engine, operator: Operator) -> None:
    operator.publish()
    for statement in (
        "UPDATE revision SET content = '{}'",
        "UPDATE revision SET author = 'ben'",
        "DELETE FROM revision",
        "UPDATE release SET note = 'other'",
        "DELETE FROM release",
        "UPDATE release_content SET content = ''",
    ):
        with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
            connection.execute(text(statement))


def test_a_release_says_what_changed_against_the_one_before(operator: Operator) -> None:
    operator.publish("one")
    operator.publish("two", {"exploration_bp": 300}, latency_target_ms=20.0)
    release = operator.send("GET", "/v1/releases/2").get_json()
    assert release["diff"] == [
        {"path": "/documents/camera/exploration_bp", "before": 0, "after": 300},
        {"path": "/models/camera.segmentation/latency_target_ms", "before": 30.0, "after": 20.0},
    ]
    assert release["revisions"] == [3, 4]


def test_going_back_is_one_action_and_stays_undone(operator: Operator, engine: Engine) -> None:
    operator.publish("good")
    operator.publish("bad", {"exploration_bp": 300})
    back = operator.send("POST", "/v1/releases/1/roll-back", {"note": "slow"})
    assert (back.status_code, back.get_json()) == (201, {"release": 3})
    listed = operator.send("GET", "/v1/releases").get_json()["releases"]
    assert listed[0]["sha256"] == listed[2]["sha256"]
    assert explored(engine) == 0
    states = {row["revision"]: row["state"] for row in operator.send("GET", "/v1/revisions").get_json()["revisions"]}
    assert (states[2], states[4]) == ("live", "rolled-back")
    operator.send("POST", "/v1/releases", {"note": "nothing new"})
    assert explored(engine) == 0


def test_a_recommendation_waits_for_a_review_where_there_are_several_users(
    engine: Engine, operator: Operator, client: FlaskClient
) -> None:
    from service.releasing.release_content import pack_rankings

    def learn(stack: str) -> None:
        with Session(engine) as session, session.begin():
            recommend(session, pack_rankings({stack: {}}), {}, clock.now())

    def rankings() -> list[str]:
        content = load(engine)
        assert content is not None
        return list(content.rankings)

    operator.publish("alone")
    learn("first")
    operator.send("POST", "/v1/releases", {"note": "the only user publishes what was learned"})
    assert rankings() == ["first"]
    anna = Person(client, engine, "anna", Role.APPROVER)
    learn("second")
    learn("third")
    anna.send("POST", "/v1/releases", {"note": "not reviewed yet"})
    assert rankings() == ["first"]
    waiting = anna.send("GET", "/v1/revisions?kind=recommendation&state=in-review").get_json()["revisions"]
    assert [row["author"] for row in waiting] == ["learner"]
    assert anna.take(waiting[0]["revision"], "approve").status_code == 200
    anna.send("POST", "/v1/releases", {"note": "reviewed"})
    assert rankings() == ["third"]


def test_a_model_is_a_revision_like_a_policy(anna: Person, ben: Person) -> None:
    path = "/v1/models/camera/segmentation"
    assert anna.send("PUT", path, make_model_json()).status_code == 202
    assert ben.send("GET", "/v1/revisions/1").get_json()["subject"] == "camera/segmentation"
