"""Keys, users and settings: what an admin makes and ends, and what nobody is shown."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import fields, replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from signing_in import PASSWORD, act, add_person, signed_in
from sqlalchemy import Engine
from sqlmodel import Session, col, select

from service import clock
from service.app import create_app
from service.console.settings import HIDDEN, lines
from service.identity import keyring
from service.identity.access import Scope
from service.identity.actor import Role
from service.identity.keyring import NewKey
from service.settings import Settings, variable
from service.store.tables import ApiKeyRow, AuditRow, PersonRow


@pytest.fixture
def admin(app: Flask) -> FlaskClient:
    return signed_in(app, "ada", Role.ADMIN)


def acts(engine: Engine) -> list[tuple[str, str, str]]:
    with Session(engine) as session:
        return [(r.actor, r.action, r.subject) for r in session.exec(select(AuditRow).order_by(col(AuditRow.number)))]


def test_a_key_is_shown_once_opens_what_it_says_and_is_revoked(admin: FlaskClient, app: Flask, engine: Engine) -> None:
    answer = act(admin, "/console/keys", name="ci", role="operator", scope=["lookup", "manage"], app="camera")
    found = re.search(r"nnf_[\w-]{43}", answer.text)
    assert found is not None
    assert answer.headers["Cache-Control"] == "no-store"
    secret = {"Authorization": f"Bearer {found[0]}"}
    assert app.test_client().get("/v1/releases", headers=secret).status_code == 200
    assert found[0] not in admin.get("/console/keys").text
    assert act(admin, "/console/keys/revoke", name="ci", confirm="something").status_code == 422
    assert app.test_client().get("/v1/releases", headers=secret).status_code == 200
    assert act(admin, "/console/keys/revoke", name="ci", confirm="ci").status_code == 303
    assert app.test_client().get("/v1/releases", headers=secret).status_code == 401
    assert "The key ci is revoked." in admin.get("/console/keys").text
    assert acts(engine)[-2:] == [("ada", "key-created", "key:ci"), ("ada", "key-revoked", "key:ci")]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "ada"}, "name"),
        ({"name": "a" * 101}, "name"),
        ({"scope": []}, "scope"),
        ({"role": ""}, "role"),
        ({"scope": ["lookup"]}, "role"),
    ],
)
def test_a_key_that_cannot_be_is_refused_at_its_field_and_what_was_typed_stays(
    admin: FlaskClient, engine: Engine, wrong: dict[str, object], field: str
) -> None:
    answer = act(
        admin, "/console/keys", **({"name": "ci", "role": "viewer", "scope": ["manage"], "app": "gallery"} | wrong)
    )
    assert answer.status_code == 422
    assert f'id="{field}-error"' in answer.text
    assert 'value="gallery"' in answer.text
    with Session(engine) as session:
        assert session.exec(select(ApiKeyRow)).all() == []


def test_an_admin_makes_accounts_and_changes_roles(admin: FlaskClient, app: Flask, engine: Engine) -> None:
    assert act(admin, "/console/users", name="ben", role="viewer", password="short").status_code == 422
    assert act(admin, "/console/users", name="ben", role="owner", password=PASSWORD).status_code == 422
    assert act(admin, "/console/users", name="ben", role="viewer", password=PASSWORD).status_code == 303
    ben = app.test_client()
    assert act(ben, "/console/login", name="ben", password=PASSWORD).status_code == 303
    assert ben.get("/console/users").status_code == 403
    assert act(admin, "/console/users/ben/role", role="admin").status_code == 303
    assert ben.get("/console/users").status_code == 200
    assert ("ada", "role-set", "person:ben") in acts(engine)


def test_an_admin_binds_people_to_apps_and_nobody_binds_themselves(
    admin: FlaskClient, app: Flask, engine: Engine
) -> None:
    wrong = {"name": "mia", "role": "operator", "password": PASSWORD, "apps": "camera, no/app"}
    answer = act(admin, "/console/users", **wrong)
    assert answer.status_code == 422
    assert 'id="apps-error"' in answer.text
    assert act(admin, "/console/users", **(wrong | {"apps": "camera, gallery"})).status_code == 303
    mia = signed_in(app, "mia", Role.OPERATOR)
    assert mia.get("/console/policies/notes").status_code == 403
    assert act(admin, "/console/users/mia/apps", apps="").status_code == 303
    assert mia.get("/console/policies/notes").status_code == 200
    assert act(admin, "/console/users/mia/apps", apps="notes").status_code == 303
    assert mia.get("/console/policies/camera").status_code == 403
    assert act(admin, "/console/users/ada/apps", apps="camera").status_code == 403
    assert ("ada", "apps-set", "person:mia") in acts(engine)


def test_an_admin_ends_sessions_and_shuts_out_and_lets_in(admin: FlaskClient, app: Flask) -> None:
    ben = signed_in(app, "ben", Role.OPERATOR)
    assert act(admin, "/console/users/ben/sessions/end").status_code == 303
    assert ben.get("/console/jobs").status_code == 303
    ben = signed_in(app, "ben", Role.OPERATOR)
    assert act(admin, "/console/users/ben/disable", confirm="").status_code == 422
    assert act(admin, "/console/users/ben/disable", confirm="ben").status_code == 303
    assert ben.get("/console/jobs").status_code == 303
    assert "shut out" in admin.get("/console/users/ben").text
    assert act(admin, "/console/users/ben/enable").status_code == 303
    assert signed_in(app, "ben", Role.OPERATOR).get("/console/jobs").status_code == 200


def test_nobody_takes_the_last_admin_away(admin: FlaskClient, engine: Engine) -> None:
    assert act(admin, "/console/users/ada/role", role="viewer").status_code == 403
    assert act(admin, "/console/users/ada/disable", confirm="ada").status_code == 403
    with Session(engine) as session:
        row = session.get(PersonRow, "ada")
        assert row is not None
        assert (row.role, row.disabled_at) == ("admin", None)


def test_lists_are_searched_filtered_and_taken_as_files(admin: FlaskClient, engine: Engine) -> None:
    with Session(engine) as session, session.begin():
        for name, scope in (("phones", Scope.LOOKUP), ("probes", Scope.TELEMETRY)):
            keyring.create(session, NewKey(name, frozenset({scope})), "test", clock.now())
        keyring.revoke(session, "probes", "test", clock.now())
    add_person(engine, "ben", Role.VIEWER)

    def names(path: str) -> list[str]:
        return [row["name"] for row in csv.DictReader(io.StringIO(admin.get(f"{path}&format=csv").text))]

    assert names("/console/keys?q=telemetry") == ["probes"]
    assert names("/console/keys?state=open") == ["phones"]
    assert names("/console/users?q=") == ["ada", "ben"]
    assert names("/console/users?role=viewer") == ["ben"]
    assert "secret" not in admin.get("/console/keys?format=csv").text
    assert admin.get("/console/users/nobody").status_code == 404


def test_settings_show_every_value_but_secrets(settings: Settings, engine: Engine) -> None:
    told = replace(settings, manage_token="swordfish", lake_url="s3://key:swordfish@lake/x", pool_size=5)
    admin = signed_in(create_app(told, engine), "ada", Role.ADMIN)
    page = admin.get("/console/settings").text
    assert [variable(f) for f in fields(Settings) if f"<code>{variable(f)}</code>" not in page] == []
    assert "swordfish" not in page
    assert told.database_url not in page
    assert f"s3://{HIDDEN}@lake/x" in page
    stated = {line.name: line.is_default for line in lines(told)}
    assert (stated["NNFLEET_POOL_SIZE"], stated["NNFLEET_RETENTION_DAYS"]) == (False, True)
    assert "NNFLEET_POOL_SIZE" not in admin.get("/console/settings?q=lake").text


def test_pages_of_admins_are_offered_to_admins(admin: FlaskClient, app: Flask) -> None:
    assert 'href="/console/keys"' in admin.get("/console/").text
    assert 'href="/console/keys"' not in signed_in(app, "vera", Role.VIEWER).get("/console/").text
