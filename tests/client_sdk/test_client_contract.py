"""What every SDK does alike: the vectors that the Java SDK is held to as well (R-G1)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from sdk_builders import FakeRunner, FakeSession, ManualClock, make_client, problem

from nnfleet_client import ArmFailed, FleetClient, GoldenResult, Plan, ProcessDied, RunTimeout, Settings, report_id
from nnfleet_client.seal import Seal

CONTRACT = json.loads((Path(__file__).parents[1] / "vectors" / "contract.json").read_text("utf-8"))
DOCUMENTS: dict[str, Any] = CONTRACT["documents"]


def rows(part: str) -> Any:
    return pytest.mark.parametrize("row", CONTRACT[part], ids=lambda row: row.get("note"))


class Answers:
    """A server that gives the answers it was told, in order."""

    def __init__(self) -> None:
        self.next: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        answer = self.next.pop(0)
        if answer["document"] == "unknown-report":
            return problem(answer["status"], "unknown-report")
        body = json.dumps(DOCUMENTS[answer["document"]]) if answer["document"] else ""
        return httpx.Response(answer["status"], headers=answer["headers"], content=body)


def client_with(document: str, **changes: Any) -> FleetClient:
    server = Answers()
    server.next = [{"status": 200, "document": document, "headers": {}}]
    client = make_client(server, **changes)
    client.refresh()
    return client


@rows("reports")
def test_the_id_of_a_report(row: dict[str, Any]) -> None:
    assert report_id(row["text"].encode()) == row["report_id"]


@rows("plans")
def test_the_plan_of_a_moment(row: dict[str, Any]) -> None:
    plan = client_with(row["document"], unit_id=row["unit_id"]).decision("segmentation", **row["now"])
    assert seen(plan) == row["expected"]


def seen(plan: Plan) -> dict[str, Any]:
    ladder = [rung.arm_id for rung in plan.ladder]
    names = ("propensity", "assigned_by", "bucket", "explore", "error_code")
    return {"plan": plan.name, "ladder": ladder} | {name: getattr(plan, name) for name in names}


@rows("propensities")
def test_the_chance_of_the_arm_that_served(row: dict[str, Any]) -> None:
    plan = client_with(row["document"], unit_id=row["unit_id"]).decision("segmentation")
    assert plan.served_propensity(row["served"], row["passed_over"]) == row["expected"]


@rows("walks")
def test_a_walk_down_a_ladder(row: dict[str, Any]) -> None:
    runner = FakeRunner({arm_id: session(told) for arm_id, told in row["arms"].items()})
    outcome = client_with(row["document"]).use("segmentation", runner, row["runs"])
    steps = [[step.arm_id, step.ending, step.window and step.window.count] for step in outcome.steps]
    assert {"steps": steps, "served": outcome.arm_id} == row["expected"]


def session(told: dict[str, Any]) -> FakeSession | BaseException:
    if "start" in told:
        return ArmFailed(*told["start"].split(":"))
    if "fails_at" in told:
        trouble = RunTimeout() if told["with"] == "timeout" else ArmFailed(*told["with"].split(":"))
        return FakeSession(trouble_at_run={told["fails_at"] + 1: trouble})
    return FakeSession(golden_result=GoldenResult(1, int(told["golden"]), 0.5))


@rows("refreshes")
def test_a_course_of_refreshes(row: dict[str, Any]) -> None:
    server, clock = Answers(), ManualClock()
    client = make_client(server, clock)
    for step in row["steps"]:
        clock.pass_s(step["pass_s"])
        server.next = list(step["answers"])
        refreshed = client.refresh()
        seen = {name: getattr(refreshed, name) for name in ("asked", "reason", "error_code")}
        release = client.decision("segmentation").release
        assert seen | {"release": release} == step["expected"]
        assert server.next == []


FATES: dict[str, type[BaseException] | None] = {"dies": ProcessDied, "called-off": KeyboardInterrupt, "well": None}


@rows("processes")
def test_a_course_of_processes(row: dict[str, Any], tmp_path: Path) -> None:
    clock = ManualClock()
    for step in row["steps"]:
        clock.pass_s(step["pass_s"])
        clock.wall_s += step["jump_s"]
        runner = FakeRunner()
        one_process(tmp_path, clock, runner, row["document"], FATES[step["fate"]])
        assert next(iter(runner.started), None) == step["starts_at"]


def one_process(
    folder: Path, clock: ManualClock, runner: FakeRunner, document: str | None, fate: type[BaseException] | None
) -> None:
    """A process that takes up what the one before it left, and whose first start comes to that end."""
    server = Answers()
    server.next = [{"status": 200, "document": document, "headers": {}}]
    client = make_client(server, clock, settings=Settings(folder=folder))
    if document is not None:
        client.refresh(force=True)
    if fate is None:
        client.use("segmentation", runner, 1)
    else:
        runner.on_start = raising(fate)
        with pytest.raises(fate):
            client.use("segmentation", runner, 1)
    client.close()


def raising(fate: type[BaseException]) -> Callable[[str], None]:
    def end(_: str) -> None:
        raise fate

    return end


@pytest.mark.parametrize("row", CONTRACT["seals"]["rows"], ids=lambda row: row["note"])
def test_a_seal(row: dict[str, Any]) -> None:
    facts = CONTRACT["seals"]
    seal = Seal(facts["report_id"], {facts["key_id"]: bytes.fromhex(facts["key"])})
    assert seal.refusal(facts["body"].encode(), row["token"], facts["now_s"]) == row["expected"]
