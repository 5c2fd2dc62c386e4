"""Plain flags by form: the editor of policies, for the switches of an app."""

from __future__ import annotations

from html import unescape

import pytest
from console_builders import Stage
from flask import Flask
from flask.testing import FlaskClient
from markup import runs
from signing_in import act, signed_in
from sqlalchemy import Engine
from sqlmodel import Session

from policies.revision import Kind, State
from service.identity.actor import Role
from service.store import revisions
from tests.console.test_console_pages import HOSTILE

PAGE = "/console/flags/camera"
TEXT = """\
schema: 1
app: camera
flags:
  night-mode:
    variants:
      shown: true
      hidden: false
    default_variant: hidden
"""


@pytest.fixture
def olga(app: Flask, stage: Stage) -> FlaskClient:
    signed_in(app, "paul", Role.APPROVER)
    return signed_in(app, "olga", Role.OPERATOR)


def test_flags_are_stated_reviewed_listed_compared_and_taken_along(
    olga: FlaskClient, app: Flask, engine: Engine
) -> None:
    assert olga.get("/console/flags/new?app=camera").headers["Location"] == PAGE
    where = act(olga, PAGE, act="submit", text=TEXT, note="a switch", base="").headers["Location"]
    with Session(engine) as session:
        row = revisions.newest(session, Kind.FLAGS, "camera")
        assert row is not None
        assert (row.state, row.author) == (State.IN_REVIEW, "olga")
        assert row.content["flags"]["night-mode"]["default_variant"] == "hidden"
    assert f'href="{PAGE}"' in olga.get(where).text
    assert act(signed_in(app, "paul", Role.APPROVER), f"{where}/approve").status_code == 303
    later = TEXT.replace("default_variant: hidden", "default_variant: shown")
    assert act(olga, PAGE, act="save", text=later, note="for all", base=row.number).status_code == 303
    assert f'href="{PAGE}"' in olga.get("/console/flags").text
    compared = unescape(olga.get(f"{PAGE}/changes?from={row.number}&to={(row.number or 0) + 1}").text)
    assert "    default_variant: shown" in compared
    assert olga.get(f"{PAGE}/flags.yaml").text.startswith(f"# revision {(row.number or 0) + 1}\nschema: 1\n")
    assert act(olga, PAGE, act="save", text=TEXT, note="back", base=row.number).status_code == 409


def test_what_is_wrong_with_flags_stands_beside_its_line_and_nothing_is_saved(
    olga: FlaskClient, engine: Engine
) -> None:
    answer = act(olga, PAGE, act="submit", text=TEXT.replace("default_variant: hidden", "default: hidden"), note="n")
    assert answer.status_code == 422
    assert '<tr class="wrong"><th scope="row">8</th>' in answer.text
    with Session(engine) as session:
        assert revisions.newest(session, Kind.FLAGS, "camera") is None
    assert "Nothing is wrong with it" in act(olga, PAGE, act="check", text=TEXT).text


def test_nothing_of_flags_is_said_to_be_simulated(olga: FlaskClient) -> None:
    assert "decided anew" not in olga.get(PAGE).text
    assert "decided anew" in olga.get("/console/policies/camera").text


def test_hostile_flags_stay_text(olga: FlaskClient) -> None:
    text = f"schema: 1\napp: camera\nflags:\n  f:\n    variants:\n      a: {HOSTILE!r}\n"
    for act_asked in ("check", "load"):
        assert runs(act(olga, PAGE, act=act_asked, text=text, note=HOSTILE).text) == []
