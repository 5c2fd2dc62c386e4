"""People who are bound to apps: every route, asked by who has one of two apps, shows and does nothing of the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from console_builders import NOW, Stage, model_finding, model_spec
from flask import Flask
from flask.testing import FlaskClient
from signing_in import act, signed_in, token_of
from sqlalchemy import Engine, func
from sqlmodel import Session, select
from test_console_access import NOBODY
from two_apps import OWN, SECRET, THEIRS, Filled, fill, their_model
from werkzeug.routing import Rule

from service import clock
from service.app import create_app
from service.identity import keyring, people
from service.identity.access import ACCESS, Reach, Scope
from service.identity.actor import Role
from service.identity.keyring import NewKey
from service.releasing.publishing import publish
from service.store.findings import finding_id
from service.store.tables import AuditRow

RULES = sorted(create_app(NOBODY).url_map.iter_rules(), key=lambda rule: (rule.rule, rule.endpoint))
NUMBERED = {
    "release": "release", "roll_back": "release", "rollout": "rollout", "steer_rollout": "rollout", "recommendation": "run",
    "job_run": "run",
}  # fmt: skip
"""What the number in an address is of, by its endpoint; a revision's where nothing is said."""
SHUT = {403, 404}


@pytest.fixture
def filled(stage: Stage) -> Filled:
    return fill(stage)


def bound(app: Flask, engine: Engine, role: Role) -> FlaskClient:
    browser = signed_in(app, "mia", role)
    with Session(engine) as session, session.begin():
        people.set_apps(session, "mia", frozenset({OWN}), "test", clock.now())
    return browser


def of_console(method: str) -> list[Rule]:
    return [
        r for r in RULES if method in (r.methods or ()) and ACCESS[r.endpoint].scope is None and ACCESS[r.endpoint].role
    ]


def of_api() -> list[Rule]:
    return [rule for rule in RULES if ACCESS[rule.endpoint].scope is Scope.MANAGE]


def paths(rule: Rule, names: dict[str, list[str]], filled: Filled) -> Iterator[str]:
    """The addresses of a rule with each of these names in it."""
    shared = {
        "release": ["1", "2", "3", "4", "5", "6"], "run": ["1", "2"], "device_class": [filled.device_class],
        "earlier": [filled.device_class], "name": ["mia"], "act": ["pause"], "step": ["withdraw"], "missing": ["nothing"],
    }  # fmt: skip
    known = shared | names
    endpoint = rule.endpoint.partition(".")[2]
    known["number"] = known[NUMBERED.get(endpoint, "rollout" if rule.endpoint.startswith("rollouts.") else "revision")]
    if rule.endpoint.startswith("policies."):
        known["name"] = known["model"]
    arguments = sorted(rule.arguments)
    for values in product(*(known[argument] for argument in arguments)):
        path = rule.rule
        for argument, value in zip(arguments, values, strict=True):
            for converter in ("", "int:", "path:"):
                path = path.replace(f"<{converter}{argument}>", value)
        yield path


def leaked(text: str) -> list[str]:
    return [word for word in SECRET if word in text.lower()]


def names_theirs(rule: Rule) -> bool:
    """Whether an address of the rule can be of somebody else's app alone."""
    numbered = "number" in rule.arguments and NUMBERED.get(rule.endpoint.partition(".")[2]) not in {"release", "run"}
    return numbered or bool(rule.arguments & {"app", "model", "sha256", "finding", "quarantine"})


def acts(engine: Engine) -> int:
    with Session(engine) as session:
        return session.exec(select(func.count()).select_from(AuditRow)).one()


def test_no_page_shows_anything_of_an_app_that_is_somebody_elses(app: Flask, engine: Engine, filled: Filled) -> None:
    browser = bound(app, engine, Role.ADMIN)
    for rule in of_console("GET"):
        for path in paths(rule, filled.own, filled):
            for asked in (path, f"{path}?format=csv", f"{path}?state=in-review&seen=ever&days=30"):
                answer = browser.get(asked)
                assert leaked(answer.text) == [], (asked, answer.status_code)
                shut = ACCESS[rule.endpoint].reach is Reach.EVERY
                assert (answer.status_code == 403) == shut, (asked, answer.status_code)


def test_what_is_somebody_elses_is_not_there_by_its_address_either(app: Flask, engine: Engine, filled: Filled) -> None:
    browser = bound(app, engine, Role.ADMIN)
    for rule in of_console("GET"):
        if names_theirs(rule):
            for path in paths(rule, filled.theirs, filled):
                assert browser.get(path).status_code in SHUT, path


def test_pages_of_ones_own_app_are_whole(app: Flask, engine: Engine, filled: Filled) -> None:
    whole = signed_in(app, "ada", Role.ADMIN)
    shown = [rule for rule in of_console("GET") if names_theirs(rule) and not rule.endpoint.endswith("_changes")]
    pages = [path for rule in shown for path in paths(rule, filled.theirs, filled)]
    assert [path for path in pages if whole.get(path).status_code != 200] == []
    browser = bound(app, engine, Role.VIEWER)
    for path, text in (
        ("models", "mobilenet"), ("policies", "camera"), ("flags", "camera"), ("revisions", "camera/mobilenet"),
        ("findings", "wrong"), ("quarantines", "own"), ("quarantines", "all-apps"), ("rollouts", "ours alone"),
        ("rollouts/2", "It changes other apps beside yours"), ("rollouts/3", "it waits on model camera.mobilenet"),
        ("audit", "rollout:3"), ("releases/2", "camera-new"), ("recommendations/2", "mobilenet"), ("account", "for camera alone"),
    ):  # fmt: skip
        assert text in browser.get(f"/console/{path}").text, path
    assert 'dt><a href="/console/models">Models</a></dt><dd>1<' in browser.get("/console/").text


def test_evidence_that_names_no_model_is_everybodys(app: Flask, engine: Engine, filled: Filled, stage: Stage) -> None:
    """Chips and phones are nobody's; a finding of a model of theirs is told whole to those who have it."""
    rows = [{"soc": "sm8150", "classes": 7}, {"model": "ledger", "soc": "sm8250"}]
    told = model_finding() | {"evidence": rows}
    stage.add_learning_run({}, [told])
    page = bound(app, engine, Role.VIEWER).get(f"/console/findings/{finding_id(told)}").text
    evidence = page.partition("evidence-title")[2]
    assert "sm8150" in evidence
    assert "sm8250" not in evidence


def test_no_act_touches_an_app_that_is_somebody_elses(app: Flask, engine: Engine, filled: Filled) -> None:
    browser = bound(app, engine, Role.ADMIN)
    token, before = token_of(browser), acts(engine)
    form = {
        "app": THEIRS, "model": "vault/ledger", "arm": "", "note": "x", "because": "x", "text": "x", "confirm": THEIRS,
        "id": "vault-hang", "arms": "fp16.*", "reason": "x", "owner": "x", "until": "2099-01-01", "evidence": "x",
        "name": "mia", "act": "submit", "pasted": "{}", "csrf_token": token,
    }  # fmt: skip
    own_account = {"console.change_password", "console.end_own_sessions", "console.upload_file"}
    for rule in of_console("POST"):
        if rule.endpoint not in own_account:
            for path in paths(rule, filled.theirs, filled):
                told = form if rule.endpoint != "console.kill" else form | {"model": "ledger"}
                answer = act(browser, path, **told)
                wanted = SHUT if rule.endpoint != "console.explain_pasted" else {404, 422}
                assert answer.status_code in wanted, (path, answer.status_code)
    assert acts(engine) == before


def test_one_quarantine_does_not_take_the_place_of_somebody_elses(app: Flask, engine: Engine, filled: Filled) -> None:
    browser, before = bound(app, engine, Role.APPROVER), acts(engine)
    form = {
        "app": OWN, "id": "vault-hang", "arms": "fp16.*", "reason": "x", "owner": "x", "until": "2099-01-01",
        "evidence": "x", "note": "x",
    }  # fmt: skip
    for path in ("/console/quarantines", "/console/quarantines/new"):
        answer = act(browser, path, **form)
        assert answer.status_code in {200, 403}
        assert leaked(answer.text.replace("vault-hang", "")) == []
    assert act(browser, "/console/quarantines", **(form | {"id": "all", "app": ""})).status_code == 403
    assert acts(engine) == before


def test_what_concerns_every_app_is_seen_and_left_to_others(app: Flask, engine: Engine, filled: Filled) -> None:
    browser = bound(app, engine, Role.ADMIN)
    page = browser.get("/console/revisions?kind=recommendation&format=csv").text
    number = page.splitlines()[1].partition(",")[0]
    assert "It concerns every app" in browser.get(f"/console/revisions/{number}").text
    for step in ("approve", "reject", "withdraw", "submit", "comment", "simulate"):
        answer = act(browser, f"/console/revisions/{number}/{step}", note="x", text="x")
        assert answer.status_code == 403, step
    assert 'href="/console/users"' not in browser.get("/console/jobs").text
    assert "Start one" not in browser.get("/console/rollouts").text


def test_ones_own_app_is_operated_as_ever(app: Flask, engine: Engine, filled: Filled) -> None:
    browser = bound(app, engine, Role.APPROVER)
    own = filled.own["revision"][0]
    assert act(browser, f"/console/revisions/{own}/comment", text="looks right").status_code == 303
    text = "schema: 1\napp: camera\nexploration:\n  share_bp: 100\n"
    page = browser.get("/console/policies/camera")
    assert page.status_code == 200
    checked = act(browser, "/console/policies/camera", text=text, act="check")
    assert checked.status_code in {200, 422}
    assert act(browser, "/console/quarantines/own/end", note="over").status_code == 303


def test_who_has_one_app_publishes_it_alone_and_sees_nothing_of_what_others_wait_for(
    app: Flask, engine: Engine, filled: Filled, stage: Stage
) -> None:
    browser, before = bound(app, engine, Role.APPROVER), acts(engine)
    stage.add_model(their_model(latency_target_ms=30.0))
    assert "Publish to everybody" in browser.get("/console/releases").text
    assert leaked(browser.get("/console/releases").text) == []
    refused = act(browser, "/console/releases", note="mine")
    assert (refused.status_code, "other apps too" in refused.text) == (403, True)
    assert leaked(refused.text) == []
    publish(engine, "theirs", NOW)
    stage.add_model(model_spec() | {"latency_target_ms": 30.0})
    assert act(browser, "/console/releases", note="mine").status_code == 303
    assert acts(engine) > before


def test_a_key_of_one_app_lists_what_is_of_that_app(app: Flask, engine: Engine, filled: Filled) -> None:
    with Session(engine) as session, session.begin():
        new = NewKey("ci", frozenset({Scope.MANAGE}), Role.VIEWER, OWN)
        headers = {"Authorization": f"Bearer {keyring.create(session, new, 'test', clock.now())}"}
    client = app.test_client()
    for path, own in (
        ("policies", '"camera"'), ("revisions", "camera/mobilenet"), ("quarantines", "all-apps"), ("artifacts", "artifacts"),
        ("releases", "published_at"),
    ):  # fmt: skip
        answer = client.get(f"/v1/{path}", headers=headers)
        assert own in answer.text, path
        assert leaked(answer.text) == [], path


def test_a_key_of_one_app_reaches_nothing_of_another(app: Flask, engine: Engine, filled: Filled) -> None:
    with Session(engine) as session, session.begin():
        new = NewKey("ci", frozenset({Scope.MANAGE}), Role.ADMIN, OWN)
        secret = keyring.create(session, new, "test", clock.now())
    client, headers, before = app.test_client(), {"Authorization": f"Bearer {secret}"}, acts(engine)
    for rule in of_api():
        method = next(iter(sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})))
        for path in paths(rule, filled.theirs, filled):
            answer = client.open(path, method=method, json={"note": "x"}, headers=headers)
            if ACCESS[rule.endpoint].reach is Reach.EVERY:
                assert answer.status_code == 403, path
            if names_theirs(rule) and rule.endpoint != "artifacts.put_artifact":
                assert answer.status_code in SHUT, (path, answer.status_code)
                assert leaked(answer.text.replace(THEIRS, "")) == [] or method == "GET", path
    assert acts(engine) == before
