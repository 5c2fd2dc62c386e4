"""How far a simulation is: told while it runs, kept when it ends, and said to be dead where its worker is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine
from sqlmodel import Session, select
from test_simulations import NO_NPU, PATH, stored

from policies.revision import Kind
from service import clock
from service.identity import keyring
from service.identity.access import Scope
from service.identity.actor import Role
from service.live import live_release
from service.settings import Settings
from service.simulating.drafts import Draft
from service.simulating.simulations import Asked, SimulationRunning, Simulations
from service.store.tables import SimulationRunRow

__all__ = ["stored"]
DYING = """
import sys, time
from service import clock
from service.settings import Settings
from service.store.engine import make_engine
from service.store.simulation_runs import RUNNING, recorded
from service.store.tables import SimulationRunRow

row = SimulationRunRow(state=RUNNING, kind="policy", app="camera", asked_by="anna", started_at=clock.now(),
                       reports_done=0, reports_total=9)
with recorded(make_engine(Settings(sys.argv[1])), row) as record:
    record.note(4)
    print(record.number, flush=True)
    time.sleep(600)
"""


def look(operator: Operator, number: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = operator.send("GET", f"{PATH}/{number}").get_json()
    return found


def ended(operator: Operator, number: int = 1) -> dict[str, Any]:
    """The run once it does not go on any more."""
    deadline = time.monotonic() + 120
    while (run := look(operator, number))["state"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return run


def asked(client: FlaskClient, **more: Any) -> Asked:
    with client.application.app_context():
        live = live_release()
    assert live is not None
    return Asked(Draft(Kind.POLICY, NO_NPU), live, clock.now(), **more)


@pytest.mark.usefixtures("stored")
def test_a_run_that_nobody_waits_for_is_looked_at_by_its_number(operator: Operator) -> None:
    answer = operator.send("POST", PATH, {"kind": "policy", "content": NO_NPU, "wait": False})
    assert (answer.status_code, answer.headers["Location"]) == (202, f"{PATH}/1")
    run = ended(operator)
    assert (run["state"], run["share_done"], run["reports_done"], run["reports_left"]) == ("done", 1.0, 9, 0)
    assert run["asked_by"] == "manage-token"
    whole = operator.send("POST", PATH, {"kind": "policy", "content": NO_NPU}).get_json()
    assert run["found"] | {"at": ""} == whole | {"at": ""}


@pytest.mark.usefixtures("stored")
def test_while_it_runs_everybody_sees_what_is_decided_and_what_is_left(
    client: FlaskClient, operator: Operator, engine: Engine
) -> None:
    held, seen, ticks = threading.Event(), threading.Event(), iter(range(1, 100))

    def timer_s() -> float:
        tick = next(ticks)
        if tick == 6:  # after four reports
            seen.set()
            assert held.wait(120)
        return float(tick)

    simulations = Simulations(engine, timer_s)
    number = simulations.begin(asked(client, budget_s=1_000, by="anna"))
    assert seen.wait(120)
    run = look(operator, number)
    assert (run["state"], run["reports_done"], run["reports_left"], run["found"]) == ("running", 3, 6, None)
    assert run["share_done"] == pytest.approx(1 / 3)
    with pytest.raises(SimulationRunning):
        simulations.begin(asked(client))
    held.set()
    assert ended(operator, number)["share_done"] == 1.0


@pytest.mark.usefixtures("stored")
def test_what_goes_wrong_ends_a_run_and_is_said(client: FlaskClient, operator: Operator, engine: Engine) -> None:
    def timer_s() -> float:
        raise RuntimeError("the clock fell off the wall")

    with pytest.raises(RuntimeError):
        Simulations(engine, timer_s).run(asked(client))
    run = look(operator)
    assert (run["state"], run["why"]) == ("failed", "RuntimeError: the clock fell off the wall")


def test_a_run_whose_process_is_killed_is_said_to_be_dead_with_what_it_had_done(
    operator: Operator, settings: Settings, engine: Engine
) -> None:
    command = [sys.executable, "-c", DYING, settings.database_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        number = int(process.stdout.readline())
        assert look(operator, number)["state"] == "running"
        os.kill(process.pid, signal.SIGKILL)
    run = ended(operator, number)
    assert (run["state"], run["reports_done"], run["reports_left"]) == ("lost", 4, 5)
    assert run["ended_at"] is not None


@pytest.mark.usefixtures("stored")
def test_a_run_is_not_shown_to_keys_of_other_apps(client: FlaskClient, operator: Operator, engine: Engine) -> None:
    operator.send("POST", PATH, {"kind": "policy", "content": NO_NPU})
    for app, status in (("camera", 200), ("gallery", 403)):
        with Session(engine) as session, session.begin():
            new = keyring.NewKey(f"ci-{app}", frozenset({Scope.MANAGE}), Role.VIEWER, app)
            secret = keyring.create(session, new, "test", clock.now())
        answer = client.get(f"{PATH}/1", headers={"Authorization": f"Bearer {secret}"})
        assert answer.status_code == status
    assert operator.send("GET", f"{PATH}/2").get_json()["code"] == "unknown-simulation"


def test_what_cannot_be_simulated_leaves_no_run_behind(operator: Operator, engine: Engine) -> None:
    operator.publish()
    assert operator.send("POST", PATH, {"kind": "flags", "content": {"app": "c", "flags": {}}}).status_code == 422
    wrong = operator.send("POST", PATH, {"kind": "policy", "content": NO_NPU, "wait": "no"})
    assert (wrong.status_code, wrong.get_json()["field"]) == (422, "wait")
    with Session(engine) as session:
        assert session.exec(select(SimulationRunRow)).all() == []
