"""Keys: what they open, and that every door is shut to all others (R-F1)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from builders import make_model_json, report_with
from flask import Flask
from flask.testing import FlaskClient
from operating import TOKEN, Operator
from sqlalchemy import Engine
from sqlmodel import Session
from typer.testing import CliRunner

from service import clock
from service.app import create_app
from service.cli.app import app as cli
from service.identity.access import ACCESS, Access, Scope, access_of
from service.identity.actor import Role
from service.identity.keyring import KeyRing, NewKey, create, revoke
from service.settings import Settings
from service.store.tables import ApiKeyRow

NOBODY = Settings("postgresql://nobody@localhost/nothing")


def make_key(engine: Engine, name: str, *scopes: Scope, role: Role | None = None, app: str | None = None) -> str:
    with Session(engine) as session, session.begin():
        return create(session, NewKey(name, frozenset(scopes), role, app), "test", clock.now())


def bearer(secret: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def routes() -> list[tuple[str, str, str]]:
    """(endpoint, method, path with its arguments filled in) of every route there is."""
    found = []
    for rule in create_app(NOBODY).url_map.iter_rules():
        path = rule.rule.replace("<int:number>", "1").replace("<app>", "camera")
        path = "/".join("x" if part.startswith("<") else part for part in path.split("/"))
        found += [(rule.endpoint, method, path) for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})]
    return found


MANAGED = [(e, m, p) for e, m, p in routes() if access_of(e).scope is Scope.MANAGE]


def test_every_route_is_in_the_table_and_nothing_else_is() -> None:
    assert {endpoint for endpoint, _, _ in routes()} == set(ACCESS)


@pytest.mark.parametrize(("endpoint", "method", "path"), MANAGED)
def test_management_is_shut_to_strangers_devices_and_lower_roles(
    client: FlaskClient, engine: Engine, endpoint: str, method: str, path: str
) -> None:
    wanted = access_of(endpoint).role
    assert wanted is not None
    device = make_key(engine, "device", Scope.LOOKUP, Scope.TELEMETRY)
    assert client.open(path, method=method).status_code == 401
    assert client.open(path, method=method, headers=bearer("nnf_unknown")).status_code == 401
    assert client.open(path, method=method, headers=bearer(device)).status_code == 403
    for role in Role:
        secret = make_key(engine, role.name.lower(), Scope.MANAGE, role=role)
        status = client.open(path, method=method, headers=bearer(secret)).status_code
        assert (status in {401, 403}) == (role < wanted), (role, status)


def test_an_endpoint_that_nobody_entered_answers_nobody(own_app: Flask) -> None:
    @own_app.get("/forgotten")
    def _forgotten() -> str:
        return "secret"

    answer = own_app.test_client().get("/forgotten", headers=bearer("t"))
    assert (answer.status_code, answer.get_json()["code"]) == (403, "not-allowed")


@pytest.mark.parametrize("access", [a for a in ACCESS.values() if a.scope is Scope.MANAGE])
def test_an_act_of_management_always_asks_for_a_role(access: Access) -> None:
    assert access.role is not None


def test_a_revoked_key_opens_nothing(client: FlaskClient, engine: Engine) -> None:
    secret = make_key(engine, "anna", Scope.MANAGE, role=Role.VIEWER)
    assert client.get("/v1/releases", headers=bearer(secret)).status_code == 200
    with Session(engine) as session, session.begin():
        revoke(session, "anna", "test", clock.now())
    assert client.get("/v1/releases", headers=bearer(secret)).status_code == 401


def test_a_key_of_one_app_does_not_touch_another(client: FlaskClient, engine: Engine) -> None:
    headers = bearer(make_key(engine, "anna", Scope.MANAGE, role=Role.ADMIN, app="camera"))
    own = client.put("/v1/policies/camera", json={"schema": 1, "app": "camera"}, headers=headers)
    other = client.put("/v1/policies/gallery", json={"schema": 1, "app": "gallery"}, headers=headers)
    everyone = client.post("/v1/releases", json={"note": "all"}, headers=headers)
    assert (own.status_code, other.status_code, everyone.status_code) == (202, 403, 403)


def test_a_key_of_one_app_publishes_where_that_app_alone_changes(
    client: FlaskClient, engine: Engine, operator: Operator
) -> None:
    operator.publish()
    mia = bearer(make_key(engine, "mia", Scope.MANAGE, role=Role.APPROVER, app="camera"))
    bob = bearer(make_key(engine, "bob", Scope.MANAGE, role=Role.APPROVER))

    def approved(app: str, **changes: Any) -> None:
        base = client.get(f"/v1/policies/{app}", headers=bob).headers.get("ETag")
        edit = {"If-Match": base} if base else {}
        stated = {"schema": 1, "app": app} | changes
        put = client.put(f"/v1/policies/{app}", json=stated, headers=bearer(TOKEN) | edit)
        number = put.headers["ETag"].strip('"')
        assert client.post(f"/v1/revisions/{number}/approve", json={"note": "x"}, headers=bob).status_code == 200

    def published() -> int:
        return client.post("/v1/releases", json={"note": "mine"}, headers=mia).status_code

    assert published() == 403, "nothing would change"
    approved("camera", exploration_bp=100)
    assert published() == 201
    approved("camera", exploration_bp=200)
    approved("gallery")
    assert published() == 403, "the other app would come along"
    assert client.post("/v1/releases", json={"note": "all"}, headers=bob).status_code == 201
    approved("camera", exploration_bp=300)
    assert published() == 201
    rows = operator.send("GET", "/v1/audit").get_json()["audit"]
    assert [row["actor"] for row in rows if row["action"] == "release-published"].count("mia") == 2


@pytest.fixture
def strict(settings: Settings, engine: Engine) -> FlaskClient:
    """An installation whose devices need keys."""
    return create_app(replace(settings, require_keys=True), engine).test_client()


def test_devices_need_a_key_only_where_the_operator_says_so(
    client: FlaskClient, strict: FlaskClient, engine: Engine
) -> None:
    path = f"/v1/decisions/camera/{'0' * 64}"
    looks = bearer(make_key(engine, "lookup", Scope.LOOKUP))
    other = bearer(make_key(engine, "other", Scope.LOOKUP, app="gallery"))
    sends = bearer(make_key(engine, "telemetry", Scope.TELEMETRY))
    assert client.get(path).status_code == 404
    found = [strict.get(path, headers=headers).status_code for headers in ({}, looks, other, sends)]
    assert found == [401, 404, 403, 403]
    batches = [strict.post("/v1/telemetry", data=b"[]", headers=h).status_code for h in ({}, looks, sends)]
    assert batches == [401, 403, 200]
    assert strict.get("/healthz").status_code == 200


def test_a_device_s_key_of_one_app_asks_for_no_other(
    client: FlaskClient, operator: Operator, strict: FlaskClient, engine: Engine
) -> None:
    operator.send("PUT", "/v1/models/gallery/tags", make_model_json(app="gallery", name="tags"))
    operator.send("PUT", "/v1/policies/gallery", {"app": "gallery"})
    operator.publish()
    headers = bearer(make_key(engine, "gallery", Scope.LOOKUP, app="gallery"))

    def ask(path: str, **body: Any) -> Any:
        return strict.post(path, json=body, headers=headers)

    own, other = (ask("/v1/decide", app=app, report=report_with()).status_code for app in ("gallery", "camera"))
    assert (own, other) == (200, 403)
    flags, context = "/ofrep/v1/evaluate/flags", {"report": report_with()}
    keys = [f"{flags}/gallery.tags", f"{flags}/camera.segmentation"]
    assert [ask(key, context=context).status_code for key in keys] == [200, 403]
    assert [flag["key"] for flag in ask(flags, context=context).get_json()["flags"]] == ["gallery.tags"]
    assert ask(flags, context=context | {"app": "camera"}).get_json()["errorCode"] == "GENERAL"


def test_an_export_is_for_keys_of_its_app(client: FlaskClient, operator: Operator, engine: Engine) -> None:
    operator.publish()
    path = "/v1/exports/camera/device_targeting_configuration.xml"
    for app, status in (("camera", 200), ("gallery", 403), (None, 200)):
        secret = make_key(engine, f"key-{app}".lower(), Scope.MANAGE, role=Role.VIEWER, app=app)
        assert client.get(path, headers=bearer(secret)).status_code == status


def test_only_the_digest_of_a_secret_is_stored(engine: Engine) -> None:
    secret = make_key(engine, "anna", Scope.LOOKUP)
    with Session(engine) as session:
        row = session.get(ApiKeyRow, "anna")
        assert row is not None
        assert secret not in json.dumps(row.model_dump(mode="json"))
    assert KeyRing(engine, None).key(secret) is not None
    assert KeyRing(engine, None).key("") is None


def test_secrets_stand_in_no_repr_and_in_no_log(
    client: FlaskClient, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings("postgresql://fleet:hunter2@db.example/nnfleet", manage_token="swordfish")
    assert "hunter2" not in repr(settings)
    assert "swordfish" not in repr(settings)
    with caplog.at_level(logging.DEBUG):
        secret = make_key(engine, "anna", Scope.MANAGE, role=Role.ADMIN)
        client.put("/v1/models/camera/segmentation", json=make_model_json(), headers=bearer(secret))
    assert secret not in caplog.text


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["key", *arguments])


def test_keys_are_made_listed_and_revoked_from_the_command_line(
    client: FlaskClient, engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NNFLEET_DATABASE_URL", settings.database_url)
    made = run("create", "ci", "--scope", "manage", "--role", "operator", "--app", "camera")
    secret = made.stdout.splitlines()[0]
    assert client.get("/v1/releases", headers=bearer(secret)).status_code == 200
    listed = json.loads(run("list", "--json").stdout)["keys"]
    assert [(k["name"], k["scopes"], k["role"], k["app"]) for k in listed] == [("ci", ["manage"], "operator", "camera")]
    assert run("revoke", "ci").exit_code == 0
    assert client.get("/v1/releases", headers=bearer(secret)).status_code == 401
    assert run("revoke", "ci").exit_code == 2
    assert run("create", "ci", "--scope", "lookup").exit_code == 2
    assert run("create", "other", "--scope", "lookup", "--role", "admin").exit_code == 2
    assert "revoked" in run("list").stdout
