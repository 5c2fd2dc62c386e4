"""From a finding to a reviewed quarantine, ending one, and the kill switch (R-E4, R-E5)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from console_builders import FINDING, Stage, model_finding
from flask import Flask
from flask.testing import FlaskClient
from signing_in import act, signed_in
from sqlmodel import Session

from policies.revision import Kind, State
from service import clock
from service.identity.actor import Role
from service.releasing import quarantines
from service.store import audit, releases, revisions
from service.store.findings import finding_id
from service.store.tables import RevisionRow
from tests.console.markup import elements, runs
from tests.console.test_console_pages import HOSTILE

NEW = f"/console/quarantines/new?finding={FINDING}"


@pytest.fixture
def olga(app: Flask, stage: Stage, ada: FlaskClient) -> FlaskClient:
    """One of two: alone, her proposals would be approved with that."""
    stage.fill()
    return signed_in(app, "olga", Role.OPERATOR)


@pytest.fixture
def ada(app: Flask) -> FlaskClient:
    return signed_in(app, "ada", Role.APPROVER)


def filled_in(page: str) -> dict[str, str]:
    """What the form of a page would send."""
    form = page.partition('<form class="source below"')[2].partition("</form>")[0]
    sent = {str(a["name"]): a.get("value") or "" for tag, a in elements(form) if tag == "input"}
    sent |= {
        name: text.strip()
        for name, text in re.findall(r'<textarea name="(\w+)"[^>]*>(.*?)</textarea>', form, re.DOTALL)
    }
    return {name: value for name, value in sent.items() if name != "csrf_token"}


def newest(stage: Stage) -> RevisionRow:
    with Session(stage.engine, expire_on_commit=False) as session:
        [row] = revisions.page(session, Kind.QUARANTINE, None, None, 1)
        session.refresh(row, ["content"])
        return row


def test_a_finding_becomes_a_quarantine_in_review_in_one_click_and_a_note(olga: FlaskClient, stage: Stage) -> None:
    assert NEW in olga.get(f"/console/findings/{FINDING}").text
    form = filled_in(olga.get(NEW).text)
    assert (form["arms"], form["socs"], form["accelerators"]) == (
        "int8.*.nnapi.google-edgetpu",
        "tensor-g3",
        "google-edgetpu",
    )
    assert (form["id"], form["owner"]) == (FINDING, "olga")
    assert "5 of 5 windows fail (p = 1e-10, 5,432 windows)" in form["evidence"]
    answer = act(olga, "/console/quarantines", **form | {"note": "seen in the field"})
    assert answer.status_code == 303
    row = newest(stage)
    assert (row.state, row.author, row.note) == (State.IN_REVIEW, "olga", "seen in the field")
    assert row.content["deny"]["cohort"]["socs"] == ["tensor-g3"]
    assert f"Quarantine {FINDING} is waiting for a review" in olga.get(answer.location).text


def test_a_finding_of_a_model_is_one_quarantine_of_its_file_on_the_chips_that_showed_it(
    olga: FlaskClient, stage: Stage
) -> None:
    """LN-02: model variant × runtime and delegate, and none of a driver."""
    told = model_finding()
    stage.add_learning_run({}, [told])
    assert "wrong output on sm8150, sm8250, sm7125" in olga.get(f"/console/findings/{finding_id(told)}").text
    form = filled_in(olga.get(f"/console/quarantines/new?finding={finding_id(told)}").text)
    assert (form["app"], form["models"], form["arms"], form["accelerators"]) == (
        "camera",
        "mobilenet",
        "fp32.tflite.nnapi.*",
        "",
    )
    answer = act(olga, "/console/quarantines", **form | {"note": "seen in the field"})
    assert answer.status_code == 303
    assert newest(stage).content["deny"]["cohort"]["socs"] == ["sm8150", "sm8250", "sm7125"]


def test_the_form_shows_who_would_lose_what_and_saves_nothing(olga: FlaskClient, stage: Stage) -> None:
    form = filled_in(olga.get(NEW).text)
    page = act(olga, "/console/quarantines/new", **form).text
    assert "33.3% of reports</strong> match the cohort: 1 of 3" in page
    lost = re.search(
        r"mobilenet.*?<code class=\"arm\">([^<]+)</code></td><td><code class=\"arm\">([^<]+)</code>", page, re.DOTALL
    )
    assert lost is not None
    assert lost.groups() == ("int8.tflite.nnapi.google-edgetpu", "int8.tflite.cpu")
    assert "4.25\xa0ms" in page
    assert filled_in(page) == form
    with Session(stage.engine) as session:
        assert revisions.page(session, Kind.QUARANTINE, None, None, 1) == []


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"until": ""}, "until"),
        ({"until": "2026-13-40"}, "until"),
        ({"arms": ""}, "arms"),
        ({"arms": "nnapi-*-int8"}, "no arm can be called"),
        ({"app": "camra"}, "did you mean `camera`?"),
        ({"evidence": " \n"}, "evidence"),
        ({"when": "device.none >"}, "when"),
        ({"id": "two words"}, "id"),
        ({"note": ""}, "note"),
    ],
)
def test_what_is_wrong_is_told_and_what_was_written_is_kept(
    olga: FlaskClient, stage: Stage, changes: dict[str, str], wrong: str
) -> None:
    form = filled_in(olga.get(NEW).text) | {"note": "why", "reason": "because of it"} | changes
    answer = act(olga, "/console/quarantines", **form)
    assert answer.status_code == 422
    assert "Nothing was saved" in answer.text
    assert wrong in answer.text.partition('role="alert">')[2].partition("</p>")[0]
    assert "because of it" in answer.text
    with Session(stage.engine) as session:
        assert revisions.page(session, Kind.QUARANTINE, None, None, 1) == []


def test_a_form_that_was_read_before_somebody_else_proposed_is_refused(olga: FlaskClient, stage: Stage) -> None:
    stale = filled_in(olga.get(NEW).text) | {"note": "why"}
    assert act(olga, "/console/quarantines", **stale).status_code == 303
    answer = act(olga, "/console/quarantines", **stale | {"reason": "another"})
    assert answer.status_code == 409
    assert "Nothing was saved" in answer.text
    fresh = filled_in(olga.get(NEW).text) | {"note": "why", "reason": "another"}
    assert act(olga, "/console/quarantines", **fresh).status_code == 303
    assert newest(stage).content["deny"]["reason"] == "another"


def in_force(stage: Stage, olga: FlaskClient) -> None:
    """Propose the quarantine of the finding, and approve it as somebody else."""
    act(olga, "/console/quarantines", **filled_in(olga.get(NEW).text) | {"note": "why"})
    with Session(stage.engine) as session, session.begin():
        row = revisions.revision(session, newest(stage).number or 0)
        quarantines.approve(session, row, "ada", clock.now(), "yes")


def test_the_list_calls_a_cohort_what_the_form_calls_it(olga: FlaskClient, ada: FlaskClient) -> None:
    form = filled_in(olga.get(NEW).text) | {
        "soc_ids": "639",
        "phones": "Pixel 10",
        "models": "mobilenet",
        "app": "camera",
    }
    act(olga, "/console/quarantines", **form | {"note": "why"})
    page = ada.get("/console/quarantines?state=in-review").text
    for told in ("Models: mobilenet", "Phone models: Pixel 10", "Numbers of SoCs: 639"):
        assert f"<span>{told}</span>" in page


def test_one_in_force_is_listed_and_ended_with_a_word_of_why(olga: FlaskClient, ada: FlaskClient, stage: Stage) -> None:
    in_force(stage, olga)
    page = ada.get("/console/quarantines").text
    assert f'action="/console/quarantines/{FINDING}/end"' in page
    assert f'action="/console/quarantines/{FINDING}/end"' not in olga.get("/console/quarantines").text
    assert act(ada, f"/console/quarantines/{FINDING}/end", note="").status_code == 422
    assert newest(stage).state == State.LIVE
    assert act(ada, f"/console/quarantines/{FINDING}/end", note="fixed by an update").status_code == 303
    assert newest(stage).state == State.ENDED
    assert "No quarantine is in force" in ada.get("/console/quarantines").text
    assert FINDING in ada.get("/console/quarantines?state=ended").text
    with Session(stage.engine) as session:
        acts = [(row.actor, row.action) for row in audit.page(session, 0, 100)]
    assert ("ada", "quarantine-ended") in acts


def kill(ada: FlaskClient, **form: Any) -> int:
    return act(ada, "/console/kill", **{"note": "it burns", "app": "", "model": "", "arm": ""} | form).status_code


def test_a_kill_switch_shows_whom_it_touches_and_asks_for_the_name(
    olga: FlaskClient, ada: FlaskClient, stage: Stage
) -> None:
    page = ada.get("/console/kill?arm=*.nnapi.google-edgetpu").text
    assert "Switching off <code>*.nnapi.google-edgetpu</code>" in page
    assert "only the CPU is left" in page
    arm = "*.nnapi.google-edgetpu"
    assert kill(ada, arm=arm) == 422
    assert kill(ada, arm=arm, confirm="*.nnapi") == 422
    assert kill(ada, arm=arm, confirm=arm, note="") == 422
    assert kill(ada, model="mobilenet", confirm="mobilenet") == 422
    for typo in ("nnapi-*-int8", "*.nnapi.google-edgtpu"):
        assert kill(ada, arm=typo, confirm=typo) == 422
    with Session(stage.engine) as session:
        assert revisions.page(session, Kind.QUARANTINE, None, None, 1) == []
    assert kill(ada, arm=arm, confirm=arm) == 303
    with Session(stage.engine) as session:
        live = releases.newest(session)
        assert live is not None
        [held] = live.quarantines
    assert (held["deny"]["arms"], held["app"], held["owner"]) == ([arm], None, "ada")
    assert kill(ada, app="camera", model="mobilenet", confirm="mobilenet") == 303
    assert (newest(stage).content["app"], newest(stage).content["deny"]["models"]) == ("camera", ["mobilenet"])


def test_hostile_texts_of_the_form_stay_text(olga: FlaskClient, stage: Stage) -> None:
    form = filled_in(olga.get(NEW).text)
    for path in ("/console/quarantines", "/console/quarantines/new"):
        page = act(olga, path, **dict.fromkeys(form, HOSTILE)).text
        assert runs(page) == []
        assert "&lt;script&gt;" in page
