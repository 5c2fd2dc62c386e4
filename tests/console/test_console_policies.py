"""The editor of policies: nothing is lost, nothing overwritten, and what is wrong stands beside its line."""

from __future__ import annotations

import io
import json
import re
from html import unescape
from typing import Any

import pytest
from console_builders import Stage
from flask import Flask
from flask.testing import FlaskClient
from signing_in import act, signed_in
from sqlalchemy import Engine
from sqlmodel import Session, select
from werkzeug.test import TestResponse

from policies.document_text import parse_document_text
from policies.revision import Kind, State
from service.identity.actor import Role
from service.store import audit, reviews, revisions
from service.store.tables import RevisionRow
from tests.console.markup import runs
from tests.console.test_console_pages import HOSTILE

PAGE = "/console/policies/camera"
TEXT = """\
schema: 1
app: camera
denies:
- id: no-npu
  arms: ['*.nnapi.*']
  reason: it hangs
"""


@pytest.fixture
def olga(app: Flask, stage: Stage) -> FlaskClient:
    stage.fill()
    signed_in(app, "paul", Role.APPROVER)
    return signed_in(app, "olga", Role.OPERATOR)


def read(client: FlaskClient, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


def base_in(page: str) -> str:
    found = re.search(r'name="base" value="(\d*)"', page)
    assert found is not None
    return found[1]


def send(client: FlaskClient, button: str, text: str = TEXT, **form: Any) -> TestResponse:
    form = {"note": "why", "base": base_in(client.get(PAGE).text)} | form
    return act(client, PAGE, act=button, text=text, **form)


def newest(engine: Engine) -> RevisionRow:
    with Session(engine) as session:
        row = revisions.newest(session, Kind.POLICY, "camera")
    assert row is not None
    return row


def test_the_editor_holds_what_stands_and_the_list_links_it(olga: FlaskClient, engine: Engine) -> None:
    page = read(olga, PAGE)
    assert base_in(page) == str(newest(engine).number)
    assert "app: camera\n" in page
    assert f'href="{PAGE}"' in read(olga, "/console/policies")


def test_who_may_not_edit_reads_the_text_and_gets_no_form(olga: FlaskClient, client: FlaskClient) -> None:
    page = read(client, PAGE)
    assert "<textarea" not in page
    assert "app: camera\n" in page
    assert client.get("/console/policies/nothing").status_code == 404


def test_every_fault_stands_beside_its_line_and_the_text_is_kept(olga: FlaskClient, engine: Engine) -> None:
    text = "app: camera\nladder_rungs: 99\n# <b>\nrules:\n- id: r\n  when: devise.soc == 'x'\n  use: lerned\n"
    before = newest(engine).number
    answer = send(olga, "save", text)
    assert answer.status_code == 422
    page = unescape(answer.text)
    rows = re.findall(r'class="wrong"><th scope="row">(\d+)</th><td><pre>(.*?)</pre><p class="error">(.*?)</p>', page)
    assert [(number, written) for number, written, _ in rows] == [
        ("2", "ladder_rungs: 99"), ("6", "  when: devise.soc == 'x'"), ("7", "  use: lerned"),
    ]  # fmt: skip
    assert "column 9: rules.0.when: `devise` is not known; did you mean `device`?" in rows[1][2]
    assert text in page
    assert newest(engine).number == before


def test_a_text_that_is_no_yaml_and_one_of_another_app_are_told_where(olga: FlaskClient) -> None:
    assert "column" in send(olga, "simulate", "app: [\n").text
    page = unescape(send(olga, "simulate", "schema: 1\napp: gallery\n").text)
    assert re.search(r'class="wrong"><th scope="row">2</th>.*the text says \'gallery\'', page)


def test_a_simulation_says_what_would_change_and_saves_nothing(olga: FlaskClient, engine: Engine) -> None:
    before = newest(engine).number
    answer = send(olga, "simulate", note="")
    assert answer.status_code == 200
    page = unescape(answer.text)
    assert "What it would do" in page
    assert "Newly takes arms away: <code>no-npu</code>" in page
    assert re.search(r"<code>denies · no-npu</code>", page, re.DOTALL)
    assert TEXT in page
    assert newest(engine).number == before


def test_a_draft_is_saved_on_the_revision_that_was_read(olga: FlaskClient, engine: Engine) -> None:
    before = newest(engine)
    answer = send(olga, "save")
    row = newest(engine)
    assert answer.headers["Location"] == f"/console/revisions/{row.number}"
    assert (row.state, row.author, row.base, row.note) == (State.DRAFT, "olga", before.number, "why")
    assert row.content["denies"][0]["id"] == "no-npu"
    assert f"Revision {row.number} is saved as a draft." in read(olga, f"/console/revisions/{row.number}")


def test_what_is_submitted_carries_its_simulation_as_evidence(olga: FlaskClient, engine: Engine) -> None:
    send(olga, "submit")
    row = newest(engine)
    assert row.state == State.IN_REVIEW
    with Session(engine) as session:
        kept = reviews.newest_simulation(session, row.number or 0)
        assert kept is not None
        assert kept.asked_by == "olga"
        assert kept.found["stated"][0]["id"] == "no-npu"
        actions = [entry.action for entry in audit.page(session, 0, 500)][-3:]
    assert actions == ["revision-saved", "revision-submit", "revision-simulated"]
    assert "Newly takes arms away" in read(olga, f"/console/revisions/{row.number}")


def test_a_change_without_a_reason_is_kept_in_the_form_and_not_saved(olga: FlaskClient, engine: Engine) -> None:
    before = newest(engine).number
    answer = send(olga, "submit", note=" ")
    assert answer.status_code == 422
    assert TEXT in unescape(answer.text)
    assert 'id="note-error"' in answer.text
    assert newest(engine).number == before


def test_the_second_of_two_who_edit_is_told_sees_both_texts_and_overwrites_nothing(
    olga: FlaskClient, app: Flask, engine: Engine
) -> None:
    otto = signed_in(app, "otto", Role.OPERATOR)
    read_by_both = base_in(otto.get(PAGE).text)
    send(olga, "save")
    hers = newest(engine)
    mine = "schema: 1\napp: camera\nexploration_bp: 250\n"
    answer = send(otto, "save", mine, base=read_by_both)
    assert answer.status_code == 409
    page = unescape(answer.text)
    assert "Somebody else saved meanwhile" in page
    assert "olga saved" in page
    assert mine in page
    removed = re.findall(r'<tr class="removed">.*?<pre>(.*?)</pre>', page)
    assert "- id: no-npu" in removed
    assert newest(engine).number == hers.number
    with Session(engine) as session:
        saved = [entry.actor for entry in audit.page(session, 0, 500) if entry.action == "revision-saved"]
    assert (saved.count("olga"), saved.count("otto")) == (1, 0)
    assert base_in(page) == str(hers.number)
    assert send(otto, "save", mine, base=base_in(page)).status_code == 303
    assert newest(engine).base == hers.number


def test_a_first_policy_that_somebody_else_began_meanwhile_is_not_overwritten(
    olga: FlaskClient, engine: Engine
) -> None:
    path = olga.get("/console/policies/new?app=gallery").headers["Location"]
    assert path == "/console/policies/gallery"
    assert "app: gallery\n" in read(olga, path)
    text = "schema: 1\napp: gallery\n"
    assert act(olga, path, act="save", text=text, note="n", base="").status_code == 303
    assert act(olga, path, act="save", text=text + "ladder_rungs: 3\n", note="n", base="").status_code == 409


def test_a_file_takes_the_place_of_the_text_and_names_what_it_is_an_edit_of(olga: FlaskClient) -> None:
    file = (io.BytesIO(b"# revision 1\r\nschema: 1\r\napp: camera\r\nladder_rungs: 3\r\n"), "camera.yaml")
    page = unescape(send(olga, "load", file=file).text)
    assert "ladder_rungs: 3\n" in page
    assert base_in(page) == "1"
    assert send(olga, "load", file=(io.BytesIO(b"\xff"), "x")).status_code == 422
    assert "choose a file first" in send(olga, "load").text


def test_what_is_downloaded_is_what_pull_writes(olga: FlaskClient, engine: Engine) -> None:
    send(olga, "save")
    answer = olga.get(f"{PAGE}/policy.yaml")
    row = newest(engine)
    assert answer.text.startswith(f"# revision {row.number}\nschema: 1\napp: camera\n")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="camera.yaml"'
    document = parse_document_text(answer.data, media_type="application/yaml")
    assert document.model_dump(mode="json", by_alias=True) == row.content
    assert olga.get(f"{PAGE}/policy.yaml?revision=999").status_code == 404


def test_any_two_revisions_are_compared_by_part_and_by_line(olga: FlaskClient, engine: Engine) -> None:
    first = newest(engine).number
    send(olga, "save")
    page = read(olga, f"{PAGE}/changes?from={first}&to={newest(engine).number}")
    assert "denies" in page
    added = re.findall(r'<tr class="added">.*?<pre>(.*?)</pre>', page)
    assert "- id: no-npu" in added
    assert olga.get(f"{PAGE}/changes?from=1").status_code == 422
    assert olga.get(f"/console/policies/gallery/changes?from={first}&to={first}").status_code == 404


@pytest.mark.parametrize("form", [{"act": "erase"}, {}])
def test_a_button_that_is_not_there_does_nothing(olga: FlaskClient, form: dict[str, str]) -> None:
    assert act(olga, PAGE, text=TEXT, **form).status_code == 422


def test_hostile_text_is_shown_as_text(olga: FlaskClient) -> None:
    text = f"app: camera\nrules:\n- id: r\n  description: {json.dumps(HOSTILE)}\n  when: '{HOSTILE}'\n  use: learned\n"
    answer = send(olga, "simulate", text, note=HOSTILE)
    assert runs(answer.text) == []
    good = f"schema: 1\napp: camera\ndenies:\n- id: d\n  arms: ['*.gpu']\n  reason: {json.dumps(HOSTILE)}\n"
    assert runs(send(olga, "simulate", good, note=HOSTILE).text) == []
    where = send(olga, "submit", good, note=HOSTILE).headers["Location"]
    for path in (where, PAGE, "/console/policies", "/console/reviews"):
        assert runs(olga.get(path).text) == []


def test_the_only_user_edits_as_everybody_does(app: Flask, stage: Stage, engine: Engine) -> None:
    stage.fill()
    alone = signed_in(app, "anna", Role.ADMIN)
    send(alone, "submit")
    with Session(engine) as session:
        assert session.exec(select(RevisionRow).where(RevisionRow.author == "anna")).one().state == State.IN_REVIEW
