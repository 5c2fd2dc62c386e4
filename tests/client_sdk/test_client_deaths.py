"""A driver that takes its process along, with LiteRT in real child processes: the mark stays, the next walk goes past it (R-D5, R-G3)."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from sdk_builders import CPU, NPU, FakeServer, arm, make_client, make_document, make_model, split

from nnfleet_litert import Artifacts, LiteRtRunner
from nnfleet_litert.device import use
from nnfleet_litert.runner import LiteRtSession

FILE = Path(__file__).parents[1] / "vectors" / "hey_jarvis.tflite"
VARIANT = {"sha256": hashlib.sha256(FILE.read_bytes()).hexdigest(), "size_bytes": FILE.stat().st_size}


class Aborting(LiteRtRunner):
    """Its accelerator's driver aborts the process that it was loaded into."""

    def start(self, model: str, arm_id: str, arm: Mapping[str, Any]) -> LiteRtSession:
        session = super().start(model, arm_id, arm)
        if arm_id == NPU:
            os.kill(session._child._process.pid, signal.SIGABRT)
        return session


def test_a_death_leaves_the_mark_of_its_start_and_the_ladder_goes_on(tmp_path: Path) -> None:
    arms = {name: arm("cpu", variant=VARIANT) for name in (NPU, CPU)}
    server = FakeServer(make_document(make_model([split(10_000, NPU, CPU)], arms=arms)))
    client = make_client(server)
    client.refresh()
    runner = Aborting(Artifacts(tmp_path, None, httpx.Client(), FILE.parent))

    used = use(client, "segmentation", runner, runs=3, workload="burst")

    assert used.outcome is not None
    assert (used.outcome.arm_id, used.deaths) == (CPU, 1)
    client.flush()
    attempts = {one["record_id"]: one["arm"] for one in server.records.values() if one["kind"] == "attempt"}
    windows = {one["attempt_id"]: one["arm"] for one in server.records.values() if one["kind"] == "window"}
    assert list(attempts.values()) == [NPU]
    assert not attempts.keys() & windows.keys()
    assert list(windows.values()) == [CPU]
