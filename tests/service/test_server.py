"""The real server: gunicorn with two workers, the real client, a PostgreSQL that goes away (R-F2, R-F4)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from builders import make_model_json, make_report
from operating import TOKEN
from sqlalchemy import Engine
from sqlmodel import Session, select

from nnfleet_client import Executed, FleetClient, Init, Reason
from policies.report import report_id
from service.server import running_server
from service.settings import Settings
from service.store.embedded import embedded_postgresql
from service.store.engine import make_engine
from service.store.schema import upgrade
from service.store.tables import ObservationRow

CPU = {"int8.tflite.cpu": {"runtime": "litert", "delegate": "cpu"}}
PATH = f"/v1/decisions/camera/{report_id(make_report())}"
ENOUGH = 40
"""Fresh connections that reach both workers nearly always; a busy machine may give them all to one."""


def publish(server: str, note: str, **policy: Any) -> int:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=server, headers=headers, timeout=60) as operator:
        operator.put("/v1/models/camera/segmentation", json=make_model_json()).raise_for_status()
        document = {"schema": 1, "app": "camera"} | policy
        operator.put("/v1/policies/camera", json=document).raise_for_status()
        number: int = operator.post("/v1/releases", json={"note": note}).raise_for_status().json()["release"]
    return number


def upload(server: str) -> None:
    body = make_report()
    httpx.put(f"{server}/v1/reports/{report_id(body)}", content=body, timeout=60).raise_for_status()


def releases_seen(server: str) -> set[int]:
    """By connections that are not kept, so that the kernel hands them to either worker."""
    with httpx.Client(limits=httpx.Limits(max_keepalive_connections=0), timeout=60) as phones:
        return {phones.get(server + PATH).raise_for_status().json()["release"] for _ in range(ENOUGH)}


@pytest.fixture
def server(settings: Settings, engine: Engine) -> Iterator[str]:
    with running_server(settings, workers=2, threads=2) as url:
        yield url


class Phone:
    """A runner that is its own session: every arm starts, and runs in 4.2 ms where its delegate says."""

    init = Init(load_us=900, compile_us=45_100)

    def start(self, model: str, arm_id: str, arm: Any) -> Phone:
        self.executed = Executed(f"{arm['delegate']}:{arm.get('accelerator')}", 4, 4, 1)
        return self

    def run(self) -> int:
        return 4200

    def golden(self) -> None:
        return None

    def close(self) -> None:
        return None


def test_a_phone_uploads_its_report_gets_its_decision_and_reports_what_ran(server: str, engine: Engine) -> None:
    publish(server, "first")
    phone = FleetClient(
        app="camera", report=make_report(), default={"segmentation": CPU}, server=server, unit_id="unit-1"
    )
    phone.refresh()
    plan = phone.decision("segmentation")
    assert (plan.reason, plan.error_code) == (Reason.FRESH, None)
    outcome = phone.use("segmentation", Phone(), 20, workload="burst")
    assert outcome.arm_id == "int8.tflite.nnapi.google-edgetpu"
    phone.flush()
    phone.close()
    assert phone.waiting == 0
    with Session(engine) as session:
        rows = list(session.exec(select(ObservationRow)))
    assert {row.kind for row in rows} >= {"window"}
    [window] = [row for row in rows if row.kind == "window"]
    assert (window.run_count, window.executed_by, window.set_aside) == (20, "nnapi:google-edgetpu", None)
    assert window.release == 1


def test_a_publish_reaches_both_workers(server: str) -> None:
    upload(server)
    for number in (1, 2):
        assert publish(server, "the next") == number
        deadline = time.monotonic() + 60
        while (seen := releases_seen(server)) != {number}:
            assert seen <= {number - 1, number}
            assert time.monotonic() < deadline, f"release {number} did not reach every worker"


def test_what_a_worker_has_answered_it_answers_while_the_database_is_away(tmp_path: Path) -> None:
    """One worker, which keeps nothing on disk: what it knows is what it was asked."""
    with ExitStack() as serving, ExitStack() as storing:
        settings = Settings(storing.enter_context(embedded_postgresql(tmp_path)), TOKEN, log_level="error")
        engine = make_engine(settings)
        upgrade(engine)
        engine.dispose()
        server = serving.enter_context(running_server(settings, workers=1, threads=2))
        upload(server)
        publish(server, "first")
        assert releases_seen(server) == {1}
        storing.close()
        assert releases_seen(server) == {1}
        ready = httpx.get(f"{server}/readyz", timeout=30)
        assert (ready.status_code, ready.json()) == (200, {"database": "down", "release": 1})
        unknown = httpx.get(f"{server}/v1/decisions/camera/{'0' * 64}", timeout=30)
        assert (unknown.status_code, unknown.json()["code"]) == (503, "database-unavailable")
