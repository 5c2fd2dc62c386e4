"""Reviews in the console: decided by somebody else, with evidence, a thread, and a row of the audit log for each act."""

from __future__ import annotations

import time
from html import unescape
from typing import Any

import pytest
from console_builders import NOW, Stage
from flask import Flask
from flask.testing import FlaskClient
from signing_in import act, signed_in
from sqlalchemy import Engine
from sqlmodel import Session

from policies.revision import Kind, State, Step
from service import clock
from service.identity.actor import Role
from service.releasing.revisions import Proposal, advance, save
from service.store import audit, releases, revisions, simulation_runs
from service.store.tables import RevisionRow, SimulationRunRow
from tests.console.markup import runs
from tests.console.test_console_pages import HOSTILE

DENY = {"id": "no-npu", "arms": ["*.nnapi.*"], "reason": "it hangs"}
QUARANTINE = {
    "app": "camera",
    "deny": {"id": "gpu-hangs", "arms": ["*.gpu"], "reason": "it hangs", "until": "2099-04-01"},
    "evidence": ["12 of 40 starts hang"],
    "owner": "olga",
}


@pytest.fixture
def olga(app: Flask, stage: Stage) -> FlaskClient:
    stage.fill()
    return signed_in(app, "olga", Role.OPERATOR)


@pytest.fixture
def paul(app: Flask, stage: Stage) -> FlaskClient:
    return signed_in(app, "paul", Role.APPROVER)


def put_up(engine: Engine, author: str = "olga", state: State = State.IN_REVIEW, **changes: Any) -> int:
    """A revision that waits, or a draft."""
    told: dict[str, Any] = {
        "kind": Kind.POLICY, "subject": "camera", "content": {"schema": 1, "app": "camera", "denies": [DENY]}, "note": "why",
    } | changes  # fmt: skip
    with Session(engine) as session, session.begin():
        row = save(session, Proposal(**told), author, NOW, blind=True)
        if state is State.IN_REVIEW:
            advance(session, row, Step.SUBMIT, author, NOW)
        assert row.number is not None
        return row.number


def row_of(engine: Engine, number: int) -> RevisionRow:
    with Session(engine) as session:
        return revisions.revision(session, number)


def read(client: FlaskClient, path: str) -> str:
    answer = client.get(f"/console{path}")
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


def last_act(engine: Engine) -> tuple[str, str]:
    with Session(engine) as session:
        entry = audit.page(session, 0, 500)[-1]
        return entry.actor, entry.action


def test_somebody_else_approves_and_the_page_says_what_comes_next(
    olga: FlaskClient, paul: FlaskClient, engine: Engine
) -> None:
    number = put_up(engine)
    page = read(paul, f"/revisions/{number}")
    assert "goes live with the next release" in page
    answer = act(paul, f"/console/revisions/{number}/approve", note="looks right")
    assert answer.headers["Location"] == f"/console/revisions/{number}"
    row = row_of(engine, number)
    assert (row.state, row.reviewer, row.review_note, row.self_approved) == ("approved", "paul", "looks right", False)
    assert last_act(engine) == ("paul", "revision-approve")
    assert f"Revision {number} is approved." in read(paul, f"/revisions/{number}")


def test_an_author_is_told_that_somebody_else_has_to_approve_and_cannot(
    olga: FlaskClient, paul: FlaskClient, engine: Engine
) -> None:
    number = put_up(engine, author="paul")
    page = read(paul, f"/revisions/{number}")
    assert "somebody else has to approve it" in page
    assert f'action="/console/revisions/{number}/approve"' not in page
    answer = act(paul, f"/console/revisions/{number}/approve", note="mine")
    assert answer.status_code == 403
    assert row_of(engine, number).state == State.IN_REVIEW


def test_the_only_user_may_approve_their_own_and_the_revision_says_so(app: Flask, stage: Stage, engine: Engine) -> None:
    stage.fill()
    anna = signed_in(app, "anna", Role.ADMIN)
    number = put_up(engine, author="anna")
    assert "The installation has one user" in read(anna, "/reviews")
    assert act(anna, f"/console/revisions/{number}/approve").status_code == 303
    assert row_of(engine, number).self_approved


def test_a_rejection_says_why_and_one_without_a_reason_does_nothing(
    paul: FlaskClient, olga: FlaskClient, engine: Engine
) -> None:
    number = put_up(engine)
    assert act(paul, f"/console/revisions/{number}/reject", note=" ").status_code == 422
    assert row_of(engine, number).state == State.IN_REVIEW
    act(paul, f"/console/revisions/{number}/reject", note="too wide")
    assert (row_of(engine, number).state, row_of(engine, number).review_note) == ("rejected", "too wide")
    assert "too wide" in read(paul, "/reviews")


def test_an_operator_takes_a_revision_back_but_decides_nothing(
    olga: FlaskClient, paul: FlaskClient, engine: Engine
) -> None:
    number = put_up(engine, author="paul")
    for step in ("approve", "reject"):
        assert act(olga, f"/console/revisions/{number}/{step}", note="x").status_code == 403
    act(olga, f"/console/revisions/{number}/withdraw", note="not now")
    assert row_of(engine, number).state == State.WITHDRAWN


def test_a_draft_is_submitted_with_its_simulation(olga: FlaskClient, engine: Engine) -> None:
    number = put_up(engine, state=State.DRAFT)
    assert "Submit it first" in read(olga, f"/revisions/{number}")
    act(olga, f"/console/revisions/{number}/submit", note="ready")
    assert row_of(engine, number).state == State.IN_REVIEW
    assert "Newly takes arms away" in read(olga, f"/revisions/{number}")


def test_a_simulation_is_kept_and_shown_where_reviews_are_listed(olga: FlaskClient, engine: Engine) -> None:
    number = put_up(engine)
    assert "not simulated" in read(olga, "/reviews")
    act(olga, f"/console/revisions/{number}/simulate")
    over(engine, number)
    assert last_act(engine) == ("olga", "revision-simulated")
    assert "not simulated" not in read(olga, "/reviews")


def over(engine: Engine, number: int) -> None:
    """Wait until the revision is not being simulated any more."""
    deadline = time.monotonic() + 120
    while True:
        with Session(engine) as session, session.begin():
            run = simulation_runs.newest_of(session, number, clock.now())
            if run is not None and run.state != simulation_runs.RUNNING:
                return
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_revision_says_how_far_its_simulation_is_and_looks_again_without_scripts_too(
    olga: FlaskClient, engine: Engine
) -> None:
    number = put_up(engine)
    with simulation_runs.recorded(engine, a_run(number)) as record:
        record.note(30)
        page = olga.get(f"/console/revisions/{number}").text
        assert "anna simulates it: 25.0% done, 30 of 120 reports decided, 90 left." in page
        assert '<noscript><meta http-equiv="refresh"' in page
        assert 'hx-trigger="every 1s"' in page
        assert "Simulate now" not in page
        record.end(simulation_runs.FAILED, clock.now(), why="OperationalError: gone")
    page = olga.get(f"/console/revisions/{number}").text
    assert "failed after 30 of 120 reports: OperationalError: gone." in page
    assert "Simulate now" in page


def test_a_simulation_whose_worker_ended_is_said_to_be_dead_and_can_be_asked_for_again(
    olga: FlaskClient, engine: Engine
) -> None:
    number = put_up(engine)
    with Session(engine) as session, session.begin():
        session.add(a_run(number))  # nobody holds its lock
    page = olga.get(f"/console/revisions/{number}").text
    assert "is dead: its worker ended after 0 of 120 reports." in page
    assert "Simulate now" in page


def a_run(revision: int) -> SimulationRunRow:
    return SimulationRunRow(
        state=simulation_runs.RUNNING, kind=Kind.POLICY, app="camera", revision=revision, asked_by="anna",
        started_at=clock.now(), reports_done=0, reports_total=120,
    )  # fmt: skip


def test_plain_flags_have_nothing_to_simulate(olga: FlaskClient, engine: Engine) -> None:
    number = put_up(engine, kind=Kind.FLAGS, content={"app": "camera", "flags": {}})
    assert "What it would do to the fleet" not in read(olga, f"/revisions/{number}")
    assert act(olga, f"/console/revisions/{number}/simulate").status_code == 422


def test_a_quarantine_is_live_once_it_is_approved(olga: FlaskClient, paul: FlaskClient, engine: Engine) -> None:
    number = put_up(engine, kind=Kind.QUARANTINE, subject="gpu-hangs", content=QUARANTINE)
    assert "goes live at once" in read(paul, f"/revisions/{number}")
    act(paul, f"/console/revisions/{number}/approve", note="yes")
    with Session(engine) as session:
        live = releases.newest(session)
    assert live is not None
    assert live.quarantines[0]["deny"]["id"] == "gpu-hangs"


def test_while_a_rollout_runs_the_page_says_that_nothing_is_published(app: Flask, stage: Stage, engine: Engine) -> None:
    stage.fill()
    stage.start_rollout()
    paul = signed_in(app, "paul", Role.APPROVER)
    assert "A rollout is going on" in read(paul, f"/revisions/{put_up(engine)}")


def test_comments_stand_in_their_order_with_author_and_are_logged(
    olga: FlaskClient, paul: FlaskClient, engine: Engine
) -> None:
    number = put_up(engine)
    act(paul, f"/console/revisions/{number}/comment", text="Which phones hang?")
    act(olga, f"/console/revisions/{number}/comment", text=f"All of them.\nSee {HOSTILE}")
    page = olga.get(f"/console/revisions/{number}").text
    assert page.index("Which phones hang?") < page.index("All of them.")
    assert runs(page) == []
    assert last_act(engine) == ("olga", "revision-commented")
    assert act(olga, f"/console/revisions/{number}/comment", text=" ").status_code == 422
    assert act(olga, f"/console/revisions/{number}/comment", text="x" * 4_001).status_code == 422


def test_a_recommendation_shows_its_learning_run(paul: FlaskClient, stage: Stage, engine: Engine) -> None:
    stage.fill()
    with Session(engine) as session:
        row = next(r for r in revisions.page(session, Kind.RECOMMENDATION, None, None, 1))
    page = read(paul, f"/revisions/{row.number}")
    assert "What was learned" in page


def test_ones_own_simulation_is_followed_without_scripts_on_a_page_of_its_own(
    olga: FlaskClient, paul: FlaskClient, engine: Engine
) -> None:
    assert "You simulated nothing" in olga.get("/console/simulations/own").text
    run = a_run(1)
    run.asked_by = "olga"
    with simulation_runs.recorded(engine, run) as record:
        record.note(90)
        page = olga.get("/console/simulations/own").text
        assert "75.0% done: 90 of 120 reports decided, 30 left." in page
        assert '<noscript><meta http-equiv="refresh"' in page
        assert "You simulated nothing" in paul.get("/console/simulations/own").text
        record.end(simulation_runs.DONE, clock.now())
    assert "100% done" in olga.get("/console/simulations/own").text.replace("100.0%", "100%")
