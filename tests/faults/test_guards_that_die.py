"""A guard is killed at any moment, again and again: the rollout and the releases tell one story all the same (R-F3)."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from typing import Any

import pytest
from builders import make_model_json, make_observation
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine
from sqlmodel import Session

from service import clock
from service.releasing.rollouts import guard
from service.settings import Settings, child_environment
from service.store import audit, releases, rollouts

ARM = "int8.tflite.nnapi.google-edgetpu"
KILLS = 6
SHARES = tuple(range(500, 9_000, 500))
# A guard that looks for ever, as a worker does, only faster.
GUARD = """
from service import clock
from service.releasing.rollouts import guard
from service.settings import Settings
from service.store.engine import make_engine
engine = make_engine(Settings.from_environment())
print("looking", flush=True)
while guard(engine, clock.now()):
    pass
"""


def healthy(client: FlaskClient, release: int) -> None:
    for side, phones in (("", 4), ("+candidate", 3)):
        for _ in range(phones):
            window = make_observation(release=release, arm=ARM + side)
            assert client.post("/v1/telemetry", json=[window]).get_json()["accepted"] == 1


def consistent(engine: Engine) -> int:
    """The live release; fails where the rollout, its releases and the log do not agree."""
    with Session(engine) as session:
        row, live = rollouts.rollout(session, 1), releases.newest(session)
        assert live is not None
        published = [r for r in reversed(releases.history(session, 100)) if r.rollout == 1]
        assert [r.share_bp for r in published] == list(SHARES[: row.step + 1])
        assert row.step_release == published[-1].number
        assert len(row.timeline) == len(published) + (row.ended_at is not None)
        assert audit.verify(session).broken is None
        return live.number


@pytest.mark.slow
def test_a_guard_that_is_killed_again_and_again_loses_and_doubles_nothing(
    engine: Engine, settings: Settings, client: FlaskClient, operator: Operator, known_report: str
) -> None:
    operator.publish("good")
    changed = [variant | {"size_bytes": 77} for variant in make_model_json()["variants"]]
    operator.send("PUT", "/v1/models/camera/segmentation", make_model_json(variants=changed))
    steps: list[dict[str, Any]] = [{"share_bp": bp, "min_minutes": 0, "min_windows": 3} for bp in SHARES]
    assert operator.send("POST", "/v1/rollouts", {"note": "x", "steps": steps}).status_code == 201
    rng = random.Random(0)
    for _ in range(KILLS):
        healthy(client, consistent(engine))
        with _guard(settings) as process:
            assert process.stdout is not None
            process.stdout.readline()
            try:
                process.wait(timeout=rng.uniform(0.0, 0.4))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        consistent(engine)
    healthy(client, consistent(engine))
    assert guard(engine, clock.now()) is not None
    consistent(engine)
    with Session(engine) as session:
        assert 1 <= rollouts.rollout(session, 1).step <= KILLS + 1


def _guard(settings: Settings) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", GUARD]
    return subprocess.Popen(command, env=child_environment(settings), stdout=subprocess.PIPE, text=True)
