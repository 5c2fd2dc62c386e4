"""The audit log: a row for every act, in its transaction, and no way to change one unseen (R-F1)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from builders import make_model_json
from operating import Operator
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session
from typer.testing import CliRunner

from service.cli.app import app
from service.settings import Settings
from service.store import audit

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def write(engine: Engine, rows: int) -> None:
    with Session(engine) as session, session.begin():
        for number in range(rows):
            audit.append(session, NOW, "anna", "tried", f"thing:{number}", value=0.1, words=["ä", "\x00"])


def forge(engine: Engine, statement: str) -> None:
    """What somebody with the rights of the database's owner can do: switch the guards off first."""
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        connection.execute(text(statement))


def chain(engine: Engine, noted: str | None = None) -> audit.Chain:
    with Session(engine) as session:
        return audit.verify(session, noted)


def test_a_log_that_nobody_touched_holds_together(engine: Engine) -> None:
    assert chain(engine) == audit.Chain(0, audit.FIRST)
    write(engine, 5)
    assert (chain(engine).rows, chain(engine).broken) == (5, None)


@pytest.mark.parametrize("statement", ["UPDATE audit SET actor = 'ben'", "DELETE FROM audit", "TRUNCATE audit"])
def test_the_database_refuses_to_change_it(engine: Engine, statement: str) -> None:
    write(engine, 2)
    with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
        connection.execute(text(statement))
    assert chain(engine).rows == 2


@pytest.mark.parametrize(
    ("statement", "broken", "why"),
    [
        ("UPDATE audit SET actor = 'ben' WHERE number = 3", 3, "changed"),
        ("UPDATE audit SET detail = '{}' WHERE number = 2", 2, "changed"),
        ("UPDATE audit SET at = at + interval '1 microsecond' WHERE number = 1", 1, "changed"),
        ("DELETE FROM audit WHERE number = 2", 3, "row 2 is missing"),
        ("UPDATE audit SET number = number - 1 WHERE number > 1", 1, "changed"),
    ],
)
def test_the_first_row_that_was_forged_is_named(engine: Engine, statement: str, broken: int, why: str) -> None:
    write(engine, 4)
    if "number - 1" in statement:
        forge(engine, "DELETE FROM audit WHERE number = 1")
    forge(engine, statement)
    found = chain(engine)
    assert (found.broken, why in found.why or "follow" in found.why) == (broken, True)


def test_a_tail_that_was_cut_off_shows_against_a_head_noted_before(engine: Engine) -> None:
    write(engine, 4)
    noted = chain(engine).head
    write(engine, 1)
    assert chain(engine, noted).broken is None
    forge(engine, "DELETE FROM audit WHERE number > 3")
    assert chain(engine).broken is None
    assert chain(engine, noted).broken == 4


def test_every_act_of_management_writes_its_row(operator: Operator) -> None:
    operator.publish("first")
    rows = operator.send("GET", "/v1/audit").get_json()["audit"]
    acts = [(row["actor"], row["action"], row["subject"]) for row in rows]
    assert acts == [
        ("manage-token", f"revision-{act}", subject)
        for subject in ("model:camera/segmentation", "policy:camera")
        for act in ("saved", "submit", "approve")
    ] + [("manage-token", "release-published", "release:1")]
    assert rows[2]["detail"]["self_approved"] == "the installation has one user"


def test_an_act_that_fails_leaves_no_row(operator: Operator) -> None:
    assert operator.send("PUT", "/v1/models/camera/segmentation", make_model_json(typo=1)).status_code == 422
    assert operator.send("POST", "/v1/releases/7/roll-back", {"note": "back"}).status_code == 404
    assert operator.send("GET", "/v1/audit").get_json() == {"audit": [], "next": None}


def test_the_command_says_which_row_is_broken(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NNFLEET_DATABASE_URL", settings.database_url)
    write(engine, 3)
    assert _verify() == (0, {"rows": 3, "head": chain(engine).head, "broken": None, "why": ""})
    forge(engine, "UPDATE audit SET action = 'nothing' WHERE number = 2")
    code, told = _verify()
    assert (code, told["broken"], told["rows"]) == (1, 2, 1)


def _verify() -> tuple[int, Any]:
    ran = CliRunner().invoke(app, ["audit", "verify", "--json"])
    return ran.exit_code, json.loads(ran.stdout)
