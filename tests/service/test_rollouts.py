"""Rollouts on a real database: steps, breaches, people, and a guard that may die at any moment (R-F3)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from builders import make_attempt, make_model_json, make_observation, make_variant
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine, text
from sqlmodel import Session
from typer.testing import CliRunner

from policies.assign import choose
from policies.rollouts.rollout import Act
from policies.rollouts.staging import parted
from service import clock
from service.cli.app import app as cli
from service.releasing import rollouts
from service.releasing.releases import load
from service.releasing.rollouts import guard
from service.settings import Settings

MODEL = "/v1/models/camera/segmentation"
STEPS = [
    {"share_bp": 1_000, "min_minutes": 0, "min_windows": 20},
    {"share_bp": 5_000, "min_minutes": 30, "min_windows": 20},
]
ARM = "int8.tflite.nnapi.google-edgetpu"
NONE_WAITING = timedelta(0)


@pytest.fixture
def staged(operator: Operator, known_report: str) -> dict[str, Any]:
    """A rollout of a model with other files, at its first step."""
    operator.publish("good")
    return begin(operator)


def begin(operator: Operator, **plan: Any) -> dict[str, Any]:
    assert operator.send("PUT", MODEL, newer_model()).status_code == 200
    answer = operator.send("POST", "/v1/rollouts", {"note": "smaller files", "steps": STEPS} | plan)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


def newer_model() -> dict[str, Any]:
    changed = [variant | {"size_bytes": 500} for variant in make_model_json()["variants"]]
    return make_model_json(variants=changed)


def report(
    client: FlaskClient, release: int, side: str | None, n: int, latency_us: int = 4_000, **changes: Any
) -> None:
    """A phone's batch each: `n` phones that ran one window."""
    arm = ARM if side is None else f"{ARM}+{side}"
    for number in range(n):
        window = make_observation([latency_us + 10 * number % 90] * 3, release=release, arm=arm, **changes)
        answer = client.post("/v1/telemetry", json=[window]).get_json()
        assert answer["accepted"] == 1, answer


def healthy(client: FlaskClient, release: int) -> None:
    report(client, release, None, 30)
    report(client, release, "candidate", 25)


def shown(operator: Operator, number: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = operator.send("GET", f"/v1/rollouts/{number}").get_json()
    return found


def live(engine: Engine) -> Any:
    content = load(engine)
    assert content is not None
    return content


def sizes(content: Any) -> set[int]:
    return {variant.size_bytes for model in content.models["camera"] for variant in model.variants}


def decision(client: FlaskClient, engine: Engine, report_id: str) -> dict[str, Any]:
    client.application.extensions["nnfleet"].lookup.swap(live(engine))
    found: dict[str, Any] = client.get(f"/v1/decisions/camera/{report_id}").get_json()["models"]["segmentation"]
    return found


def ran(model: dict[str, Any], bucket: int) -> tuple[str, int]:
    splits = model["plans"]["main"]["splits"]
    at = choose([split["weight"] for split in splits], bucket)
    assert at is not None
    lead = splits[at]["ladder"][0]
    return parted(lead)[0], model["arms"][lead]["variant"]["size_bytes"]


@pytest.mark.usefixtures("staged")
def test_the_first_step_gives_its_share_the_candidate_and_nobody_else(
    client: FlaskClient, engine: Engine, known_report: str
) -> None:
    model = decision(client, engine, known_report)
    assert {ran(model, bucket) for bucket in (0, 999)} == {(ARM, 500)}
    assert {ran(model, bucket) for bucket in (1_000, 9_999)} == {(ARM, 1_000)}


@pytest.mark.usefixtures("staged")
def test_a_good_candidate_walks_through_its_steps_and_becomes_the_release(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str
) -> None:
    now = clock.now()
    assert waits(engine, now) == "0 of 20 windows"
    healthy(client, 2)
    assert act(engine, now) is Act.ADVANCE
    assert {ran(decision(client, engine, known_report), b) for b in (0, 999, 1_000, 4_999)} == {(ARM, 500)}
    healthy(client, 3)
    assert waits(engine, now + timedelta(minutes=29)) == "29 of 30 minutes"
    assert act(engine, now + timedelta(minutes=31)) is Act.COMPLETE
    assert (live(engine).staged, sizes(live(engine))) == (None, {500})
    found = shown(operator)
    assert [event["what"] for event in found["timeline"]] == [
        "rollout-started",
        "rollout-advanced",
        "rollout-succeeded",
    ]
    assert [event.get("share_bp") for event in found["timeline"]] == [1_000, 5_000, None]
    assert ["readings" in event for event in found["timeline"]] == [False, True, True]
    assert guard(engine, now) is None
    states = operator.send("GET", "/v1/revisions?kind=model").get_json()["revisions"]
    assert [row["state"] for row in states] == ["live", "replaced"]


def act(engine: Engine, now: datetime) -> Act | None:
    judged = guard(engine, now, NONE_WAITING)
    assert judged is not None
    return judged.act


def waits(engine: Engine, now: datetime) -> str:
    judged = guard(engine, now)
    assert judged is not None
    assert judged.act is None
    return judged.because


@pytest.mark.usefixtures("staged")
def test_a_slow_candidate_is_stopped_and_does_not_come_back(
    client: FlaskClient, engine: Engine, operator: Operator
) -> None:
    report(client, 2, None, 30)
    report(client, 2, "candidate", 25, latency_us=5_600)
    assert act(engine, clock.now()) is Act.STOP
    found = shown(operator)
    assert (found["state"], found["timeline"][-1]["what"]) == ("stopped", "rollout-stopped")
    assert "p90-latency is 1.4" in found["timeline"][-1]["because"]
    breached = [reading["measure"] for reading in found["judgement"]["readings"] if reading["breached"]]
    assert breached == ["p90-latency"]
    [reading] = [found for found in found["timeline"][-1]["readings"] if found["breached"]]
    assert reading["ratio"] == pytest.approx(1.4, abs=0.05)
    assert 1 < reading["low"] < reading["ratio"] < reading["high"]
    assert (reading["candidate_n"], reading["control_n"]) == (25, 30)
    assert (live(engine).number, live(engine).staged, sizes(live(engine))) == (3, None, {1_000})
    operator.send("POST", "/v1/releases", {"note": "something else"})
    assert sizes(live(engine)) == {1_000}
    assert operator.send("GET", "/v1/revisions?kind=model").get_json()["revisions"][0]["state"] == "rolled-back"


@pytest.mark.usefixtures("staged")
def test_crashes_are_starts_that_no_window_followed(client: FlaskClient, engine: Engine) -> None:
    """Marks of the others are not sent: a control that never crashes has none at all."""
    report(client, 2, None, 100)
    for _ in range(12):
        client.post("/v1/telemetry", json=[make_attempt(release=2, arm=f"{ARM}+candidate")])
    assert waits(engine, clock.now()).startswith("0 of 20")
    judged = guard(engine, clock.now(), NONE_WAITING)
    assert judged is not None
    assert "crashes" in judged.because


@pytest.mark.usefixtures("staged")
def test_one_phone_that_repeats_its_crashes_stops_no_rollout(client: FlaskClient, engine: Engine) -> None:
    report(client, 2, None, 40)
    for _ in range(60):
        mark = make_attempt(release=2, arm=ARM)
        client.post("/v1/telemetry", json=[mark, make_observation(release=2, arm=ARM, attempt_id=mark["record_id"])])
    client.post("/v1/telemetry", json=[make_attempt(release=2, arm=f"{ARM}+candidate") for _ in range(2_000)])
    judged = guard(engine, clock.now(), NONE_WAITING)
    assert judged is not None
    assert (judged.act, judged.candidate_windows) == (None, 0)
    crashes = next(reading for reading in judged.to_json()["readings"] if reading["measure"] == "crashes")
    assert (crashes["candidate_n"], crashes["control_n"]) == (1, 100)


@pytest.mark.usefixtures("staged")
def test_explorers_are_on_neither_side(client: FlaskClient, engine: Engine) -> None:
    report(client, 2, None, 30)
    report(client, 2, "explore", 30, latency_us=40_000)
    report(client, 2, "candidate-explore", 30, latency_us=40_000)
    assert waits(engine, clock.now()) == "0 of 20 windows"


@pytest.mark.usefixtures("known_report")
def test_a_side_is_stored_apart_from_its_arm(client: FlaskClient, engine: Engine, operator: Operator) -> None:
    operator.publish()
    report(client, 1, "candidate", 1)
    refused = client.post("/v1/telemetry", json=[make_observation(arm=f"{ARM}+other")]).get_json()
    assert [row["reason"] for row in refused["rejected"]] == ["invalid-record"]
    with engine.connect() as connection:
        assert connection.execute(text("SELECT arm, side FROM observation")).all() == [(ARM, "candidate")]


@pytest.mark.usefixtures("staged")
def test_while_a_rollout_runs_nothing_else_is_published(operator: Operator) -> None:
    for path, body in (
        ("/v1/releases", {"note": "x"}),
        ("/v1/releases/1/roll-back", {"note": "x"}),
        ("/v1/rollouts", {"note": "x"}),
    ):
        answer = operator.send("POST", path, body)
        assert (answer.status_code, answer.get_json()["code"]) == (409, "rollout-active"), path


@pytest.mark.usefixtures("staged")
def test_a_paused_rollout_keeps_its_share_and_an_aborted_one_gives_it_back(
    client: FlaskClient, engine: Engine, operator: Operator, known_report: str
) -> None:
    assert operator.send("POST", "/v1/rollouts/1/pause", {"note": "holidays"}).get_json()["state"] == "paused"
    healthy(client, 2)
    assert waits(engine, clock.now()) == "the rollout is paused"
    assert ran(decision(client, engine, known_report), 0) == (ARM, 500)
    assert operator.send("POST", "/v1/rollouts/1/pause", {"note": "again"}).status_code == 409
    assert operator.send("POST", "/v1/rollouts/1/resume", {"note": "back"}).get_json()["state"] == "running"
    assert operator.send("POST", "/v1/rollouts/1/abort", {"note": "no"}).get_json()["state"] == "aborted"
    assert sizes(live(engine)) == {1_000}
    assert operator.send("POST", "/v1/rollouts/1/resume", {"note": "?"}).get_json()["code"] == "wrong-state"
    actions = [row["action"] for row in operator.send("GET", "/v1/audit").get_json()["audit"]]
    assert [a for a in actions if a.startswith("rollout-")] == [
        "rollout-step-published", "rollout-started", "rollout-pause", "rollout-resume", "rollout-undone", "rollout-aborted",
    ]  # fmt: skip


def test_there_is_nothing_to_roll_out_without_a_change_or_a_release(operator: Operator) -> None:
    assert operator.send("POST", "/v1/rollouts", {"note": "x"}).get_json()["code"] == "nothing-to-roll-out"
    operator.publish("good")
    assert operator.send("POST", "/v1/rollouts", {"note": "x"}).get_json()["code"] == "nothing-to-roll-out"
    assert operator.send("GET", "/v1/rollouts/7").get_json()["code"] == "unknown-rollout"


@pytest.mark.usefixtures("staged")
def test_a_guard_that_dies_in_the_middle_leaves_no_half_step(
    client: FlaskClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy(client, 2)

    def die(*_: object, **__: object) -> Iterator[None]:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(rollouts.audit, "append", die)
        with pytest.raises(SystemExit):
            guard(engine, clock.now())
    assert live(engine).number == 2
    assert act(engine, clock.now()) is Act.ADVANCE
    assert live(engine).number == 3


@pytest.mark.usefixtures("staged")
def test_two_guards_at_once_take_one_step(client: FlaskClient, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    healthy(client, 2)
    real = rollouts.judge

    def slow(*arguments: Any) -> Any:
        monkeypatch.setattr(rollouts, "judge", real)
        assert act(engine, clock.now()) is Act.ADVANCE  # the other guard, while this one thinks
        return real(*arguments)

    monkeypatch.setattr(rollouts, "judge", slow)
    assert act(engine, clock.now()) is Act.ADVANCE
    with Session(engine) as session:
        assert session.execute(text("SELECT step FROM rollout")).scalar_one() == 1
    assert live(engine).number == 3


@pytest.mark.usefixtures("staged")
def test_the_command_says_what_it_made_of_the_rollout(
    client: FlaskClient, engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NNFLEET_DATABASE_URL", settings.database_url)
    assert "wait: 0 of 20 windows" in CliRunner().invoke(cli, ["guard"]).stdout
    healthy(client, 2)
    told = json.loads(CliRunner().invoke(cli, ["guard", "--json"]).stdout)
    assert (told["act"], told["candidate_windows"]) == ("advance", 25)


def test_a_rollout_of_other_variants_than_before_is_possible_too(operator: Operator, engine: Engine) -> None:
    operator.publish("good")
    spec = make_model_json(variants=[*make_model_json()["variants"], make_variant("fp16")])
    assert operator.send("PUT", MODEL, spec).status_code == 200
    assert operator.send("POST", "/v1/rollouts", {"note": "fp16, too"}).get_json()["share_bp"] == 100
    assert live(engine).staged.share_bp == 100
