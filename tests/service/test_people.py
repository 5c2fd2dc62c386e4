"""Accounts: names that cannot be confused, passwords, and the rule of four eyes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask.testing import FlaskClient
from operating import Operator
from signing_in import PASSWORD, add_person
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, select
from typer.testing import CliRunner

from policies.errors import InvalidField
from service import clock
from service.cli.app import app as cli
from service.identity import keyring, people
from service.identity.access import Scope
from service.identity.actor import RESERVED, Role
from service.identity.passwords import hashed, matches
from service.settings import Settings
from service.store.people import one_user
from service.store.tables import AuditRow, PersonRow


@pytest.mark.parametrize(
    "name", ["", "Anna", "an na", "аnna", "anna<script>", "-anna", "a" * 101, "anna\n", *sorted(RESERVED)]
)
def test_a_name_that_could_be_taken_for_another_is_refused(engine: Engine, name: str) -> None:
    with pytest.raises(InvalidField):
        add_person(engine, name, Role.VIEWER)
    with Session(engine) as session, pytest.raises(InvalidField) as caught:
        keyring.create(session, keyring.NewKey(name, frozenset({Scope.LOOKUP})), "test", clock.now())
    assert caught.value.field == "name"


@pytest.mark.parametrize("app", ["", "../etc", "a b", "a" * 129, "café"])
def test_a_key_is_bound_to_nothing_that_cannot_be_an_app(engine: Engine, app: str) -> None:
    with Session(engine) as session, pytest.raises(InvalidField) as caught:
        keyring.create(session, keyring.NewKey("ci", frozenset({Scope.LOOKUP}), app=app), "test", clock.now())
    assert caught.value.field == "app"


def test_people_and_keys_share_their_names(engine: Engine) -> None:
    add_person(engine, "anna", Role.VIEWER)
    with Session(engine) as session, session.begin():
        keyring.create(session, keyring.NewKey("ci", frozenset({Scope.LOOKUP})), "test", clock.now())
        for name in ("anna", "guard"):
            with pytest.raises(InvalidField):
                keyring.create(session, keyring.NewKey(name, frozenset({Scope.LOOKUP})), "test", clock.now())
    for name in ("anna", "ci"):
        with pytest.raises(InvalidField):
            add_person(engine, name, Role.VIEWER)


def test_a_password_is_long_and_nothing_else(engine: Engine) -> None:
    kept = hashed("aaaaaaaaaaaa")
    assert kept.startswith("$argon2id$")
    assert matches(kept, "aaaaaaaaaaaa")
    assert not matches(kept, "aaaaaaaaaaab")
    assert not matches(None, "aaaaaaaaaaaa")
    for password in ("elevenchars", "a" * 1001):
        with pytest.raises(InvalidField) as wrong:
            hashed(password)
        assert password not in wrong.value.detail


def test_two_people_who_may_change_things_watch_each_other(engine: Engine) -> None:
    def alone() -> bool:
        with Session(engine) as session:
            return one_user(session)

    assert alone()
    add_person(engine, "anna", Role.ADMIN)
    add_person(engine, "vera", Role.VIEWER)
    assert alone()
    add_person(engine, "ben", Role.OPERATOR)
    assert not alone()
    with Session(engine) as session, session.begin():
        people.disable(session, "ben", "test", clock.now())
    assert alone()


def test_with_two_people_a_revision_waits_for_the_other(operator: Operator, engine: Engine) -> None:
    for name in ("anna", "ben"):
        add_person(engine, name, Role.APPROVER)
    assert operator.send("PUT", "/v1/policies/camera", {"schema": 1, "app": "camera"}).status_code == 202


def run(*arguments: str, password: str = PASSWORD) -> Any:
    return CliRunner().invoke(cli, ["user", *arguments], input=f"{password}\n")


def test_people_are_made_listed_and_shut_out_from_the_command_line(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NNFLEET_DATABASE_URL", settings.database_url)
    assert "no users" in run("list").stdout
    assert run("create", "anna", "--role", "admin").exit_code == 0
    assert run("create", "anna", "--role", "admin").exit_code == 2
    assert run("create", "ben", "--role", "viewer", password="short").exit_code == 2
    assert run("create", "ben", "--role", "owner").exit_code == 2
    listed = json.loads(run("list", "--json").stdout)["users"]
    assert [(row["name"], row["role"], row["sessions"]) for row in listed] == [("anna", "admin", 0)]
    assert run("passwd", "anna", password="another long password").exit_code == 0
    assert run("disable", "anna").exit_code == 0
    assert run("disable", "anna").exit_code == 2
    assert "shut out" in run("list").stdout
    with Session(engine) as session:
        row = session.get(PersonRow, "anna")
        assert row is not None
        assert matches(row.password_hash, "another long password")
        acts = [(entry.actor, entry.action) for entry in session.exec(select(AuditRow).order_by(AuditRow.number))]  # type: ignore[arg-type]
    assert acts == [("command-line", act) for act in ("person-created", "password-set", "person-disabled")]


def test_no_password_stands_in_the_audit_log(client: FlaskClient, engine: Engine) -> None:
    add_person(engine, "anna", Role.ADMIN, PASSWORD)
    with Session(engine) as session:
        for row in session.exec(select(AuditRow)):
            assert PASSWORD not in row.detail
            assert "argon2" not in row.detail


def test_people_are_bound_to_apps_and_set_free_from_the_command_line(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NNFLEET_DATABASE_URL", settings.database_url)

    def apps() -> Any:
        return json.loads(run("list", "--json").stdout)["users"][0]["apps"]

    assert run("create", "anna", "--role", "viewer", "--app", "gallery", "--app", "camera").exit_code == 0
    assert apps() == ["camera", "gallery"]
    assert "apps camera, gallery" in run("list").stdout
    assert run("apps", "anna", "--app", "camera").exit_code == 0
    assert apps() == ["camera"]
    for wrong in ([], ["--all", "--app", "camera"], ["--app", "no app"], ["--app", ""]):
        assert run("apps", "anna", *wrong).exit_code == 2
        assert apps() == ["camera"]
    assert run("apps", "anna", "--all").exit_code == 0
    assert apps() is None


def test_the_database_takes_nobody_who_has_no_app_at_all(engine: Engine) -> None:
    add_person(engine, "anna", Role.VIEWER)
    with Session(engine) as session, pytest.raises(IntegrityError):
        session.execute(text("UPDATE person SET apps = '{}'"))
