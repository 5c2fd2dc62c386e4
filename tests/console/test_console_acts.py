"""What operators do from the console: steer rollouts, publish, go back, run jobs; each under their name."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from console_builders import Stage, model_spec
from flask import Flask
from flask.testing import FlaskClient
from signing_in import act, signed_in
from sqlalchemy import text
from sqlmodel import Session

from policies.revision import Kind, State, Step
from service import clock
from service.identity.actor import Role
from service.releasing.revisions import Proposal, advance, save
from service.store import audit, releases, revisions, rollouts
from service.store.tables import ReleaseRow, RolloutRow

PLAN = {"steps": "1, 10%, 50", "min_minutes": "30", "min_windows": "100", "note": "a tighter target"}


@pytest.fixture
def ada(app: Flask, stage: Stage) -> FlaskClient:
    stage.fill()
    return signed_in(app, "ada", Role.APPROVER)


def approve(stage: Stage, **changes: Any) -> None:
    """An approved revision of the model, by two people."""
    content = model_spec() | {"latency_target_ms": 25.0} | changes
    with Session(stage.engine) as session, session.begin():
        proposal = Proposal(Kind.MODEL, "camera/mobilenet", content, "faster")
        row = save(session, proposal, "olga", clock.now(), blind=True)
        for who, step in (("olga", Step.SUBMIT), ("ben", Step.APPROVE)):
            advance(session, row, step, who, clock.now(), "yes")


def live(stage: Stage) -> ReleaseRow:
    with Session(stage.engine, expire_on_commit=False) as session:
        row = releases.newest(session)
        assert row is not None
        return row


def rollout(stage: Stage) -> RolloutRow:
    with Session(stage.engine, expire_on_commit=False) as session:
        return rollouts.rollout(session, 1)


def acts_of(stage: Stage, who: str) -> list[str]:
    with Session(stage.engine) as session:
        return [row.action for row in audit.page(session, 0, 1_000) if row.actor == who]


def test_a_rollout_of_what_is_approved_is_started_paused_resumed_and_aborted(ada: FlaskClient, stage: Stage) -> None:
    assert "Nothing is approved that is not live already" in ada.get("/console/rollouts").text
    approve(stage)
    assert "model camera/mobilenet" in ada.get("/console/rollouts").text
    assert act(ada, "/console/rollouts", **PLAN).status_code == 303
    row = rollout(stage)
    assert [step["share_bp"] for step in row.plan["steps"]] == [100, 1_000, 5_000]
    assert {(step["min_minutes"], step["min_windows"]) for step in row.plan["steps"]} == {(30, 100)}
    assert "one goes on at a time" in ada.get("/console/rollouts").text
    for taken, state in (("pause", "paused"), ("resume", "running")):
        assert act(ada, f"/console/rollouts/1/{taken}", note="a look").status_code == 303
        assert rollout(stage).state == state
    assert act(ada, "/console/rollouts/1/abort", note="enough").status_code == 422
    assert rollout(stage).state == "running"
    page = ada.get("/console/rollouts/1").text
    assert "1.0% of units have the candidate and get the control again" in page
    assert act(ada, "/console/rollouts/1/abort", note="enough", confirm="1").status_code == 303
    assert rollout(stage).state == "aborted"
    assert "Steer it" not in ada.get("/console/rollouts/1").text
    steered = [
        a for a in acts_of(stage, "ada") if a.startswith("rollout-") and "step" not in a and a != "rollout-undone"
    ]
    assert steered == ["rollout-started", "rollout-pause", "rollout-resume", "rollout-aborted"]


@pytest.mark.parametrize(
    "changes",
    [{"note": ""}, {"steps": ""}, {"steps": "one"}, {"steps": "50, 10"}, {"steps": "nan"}, {"steps": "95"},
     {"min_minutes": "soon"}, {"min_windows": "inf"}, {"min_windows": "1.5"}],
)  # fmt: skip
def test_a_plan_that_cannot_be_starts_nothing(ada: FlaskClient, stage: Stage, changes: dict[str, str]) -> None:
    approve(stage)
    assert act(ada, "/console/rollouts", **PLAN | changes).status_code == 422
    with Session(stage.engine) as session:
        assert rollouts.active(session) is None


def test_steering_what_does_not_go_on_is_told_and_changes_nothing(ada: FlaskClient, stage: Stage) -> None:
    stage.start_rollout()
    answer = act(ada, "/console/rollouts/1/resume", note="go")
    assert answer.status_code == 409
    assert "allows" in answer.text
    assert act(ada, "/console/rollouts/1/complete", note="now").status_code == 404
    assert act(ada, "/console/rollouts/9/pause", note="which").status_code == 404
    assert rollout(stage).state == "running"


def test_what_is_approved_is_published_and_an_earlier_release_comes_back(ada: FlaskClient, stage: Stage) -> None:
    first = live(stage)
    approve(stage)
    assert "Would bring 1 approved revision" in ada.get("/console/releases").text
    assert act(ada, "/console/releases", note="a tighter target").status_code == 303
    second = live(stage)
    assert second.number == first.number + 1
    assert second.author == "ada"
    page = ada.get(f"/console/releases/{first.number}").text
    assert "it changes:" in page
    assert "latency_target_ms" in page
    path = f"/console/releases/{first.number}/roll-back"
    assert act(ada, path, note="slower").status_code == 422
    assert live(stage).number == second.number
    assert act(ada, path, note="slower", confirm=str(first.number)).status_code == 303
    assert live(stage).content_sha256 == first.content_sha256
    with Session(stage.engine) as session:
        assert revisions.page(session, Kind.MODEL, None, None, 1)[0].state == State.ROLLED_BACK
    assert acts_of(stage, "ada")[-2:] == ["release-published", "release-rolled-back"]


def test_a_job_is_queued_once_under_the_name_of_who_asked(app: Flask, ada: FlaskClient, stage: Stage) -> None:
    olga = signed_in(app, "olga", Role.OPERATOR)
    answer = act(olga, "/console/jobs", job="rollup")
    assert answer.status_code == 303
    assert "rollup runs as soon as a worker is free" in olga.get(answer.location).text
    again = act(olga, "/console/jobs", job="rollup")
    assert "rollup waits for a worker already" in olga.get(again.location).text
    assert act(olga, "/console/jobs", job="rm").status_code == 422
    with stage.engine.begin() as connection:
        queued = connection.execute(text("SELECT task_name, queueing_lock FROM jobs.procrastinate_jobs")).all()
    assert [tuple(row) for row in queued] == [("rollup", "rollup")]
    assert acts_of(stage, "olga").count("job-asked-for") == 1


def test_a_reader_is_offered_nothing_that_changes_the_fleet(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    stage.start_rollout()
    for path in ("/rollouts", "/rollouts/1", "/releases", "/releases/1", "/jobs", "/quarantines"):
        page = client.get(f"/console{path}").text
        assert page.count('method="post"') == 1, path  # signing out


def test_a_rollout_is_scheduled_by_local_clocks_and_shown_by_both(ada: FlaskClient, stage: Stage) -> None:
    approve(stage)
    day = (clock.now() + timedelta(days=3)).date()
    plan = PLAN | {"start": f"{day}T09:00 Asia/Kolkata", "hours": "08:00-18:00 mon-sun Asia/Kolkata\n"}
    assert act(ada, "/console/rollouts", **plan).status_code == 303
    page = ada.get("/console/rollouts/1").text
    assert "scheduled" in page
    assert "09:00\u00a0Asia/Kolkata" in page
    assert "(03:30 UTC)" in page
    assert "08:00-18:00 mon-sun Asia/Kolkata" in page
    listed = ada.get("/console/rollouts").text
    assert "one goes on at a time" in listed
    assert "09:00\u00a0Asia/Kolkata" in listed
    assert act(ada, "/console/rollouts/1/pause", note="x").status_code == 409
    assert act(ada, "/console/rollouts/1/abort", note="not then", confirm="1").status_code == 303
    assert live(stage).number == 1


def test_a_time_that_clocks_show_twice_comes_back_with_both_to_choose_from(ada: FlaskClient, stage: Stage) -> None:
    approve(stage)
    answer = act(ada, "/console/rollouts", **PLAN | {"start": "2026-10-25T01:30 Europe/London", "hours": "x"})
    assert answer.status_code == 422
    for choice in ("2026-10-25T01:30+01:00 Europe/London", "2026-10-25T01:30+00:00 Europe/London"):
        assert f'type="radio" name="start" value="{choice}"' in answer.text
    assert 'value="1, 10%, 50"' in answer.text
    wrong = act(ada, "/console/rollouts", **PLAN | {"hours": "9 to 5"}).text
    assert 'id="hours-error"' in wrong
    assert "9 to 5" in wrong
