"""The snippets of the Python SDK's README, run as they stand there, against a server in this process."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from client_sdk.sdk_builders import (
    CPU,
    REPORT,
    FakeRunner,
    FakeServer,
    arm,
    make_document,
    make_model,
    make_transport,
    split,
)

import nnfleet_client
from tests.docs.markdown import ROOT, code_blocks, text

ADDRESS = '"https://fleet.example"'
MODEL = ROOT / "tests" / "vectors" / "hey_jarvis.tflite"


@pytest.fixture
def told(tmp_path: Path) -> dict[str, Any]:
    """What the README takes for granted, and after the first snippet what that made."""
    content = MODEL.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    variant = {"id": "seg-fp32", "sha256": sha256, "size_bytes": len(content), "url": f"/v1/artifacts/{sha256}"}
    model = make_model([split(10_000, CPU)], arms={CPU: arm("cpu", variant=variant)})
    server = FakeServer(make_document(model, expires_at="2099-01-01T00:00:00Z"))
    given: dict[str, Any] = {
        "server": make_transport(server),
        "report_bytes": REPORT,
        "random_id_kept_on_this_device": "a random id",
        "app_files": tmp_path,
        "folder": tmp_path / "litert",
        "runner": FakeRunner(),
        "http": httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, content=content))),
        "records": server.records,
    }
    first, *_ = code_blocks(text("client_sdk/python/README.md"), "python")
    assert ADDRESS in first
    exec(first.replace(ADDRESS, "server"), given)
    return given


class EngineError(Exception):
    """An app's own trouble with its runtime."""

    code = "no-such-delegate"


@dataclass
class Engine:
    """An app's own runtime, which knows the CPU alone."""

    variant: str
    delegate: str
    options: Mapping[str, Any]
    load_us: int = 900
    compile_us: int = 45_000

    def __post_init__(self) -> None:
        if self.delegate != "cpu":
            raise EngineError

    def invoke(self, frame: int) -> int:
        return frame * frame

    def close(self) -> None:
        pass


def test_the_first_snippet_asks_runs_and_reports(told: dict[str, Any]) -> None:
    assert told["plan"].release == 41
    assert (told["outcome"].arm_id, told["outcome"].error_code) == (CPU, None)
    assert [record["runs"]["count"] for record in told["records"].values()] == [30]


def test_the_second_one_is_a_runner_whose_app_gets_its_outputs(told: dict[str, Any]) -> None:
    _, second, _ = code_blocks(text("client_sdk/python/README.md"), "python")
    shown: list[int] = []
    frames = itertools.count()
    told |= {name: getattr(nnfleet_client, name) for name in nnfleet_client.__all__}
    told |= {"time": time, "load": Engine, "EngineError": EngineError}
    told |= {"camera": SimpleNamespace(next=lambda: next(frames)), "screen": SimpleNamespace(show=shown.append)}
    exec(second, told)
    outcome = told["client"].use("segmentation", told["runner"], runs=30)
    (step,) = outcome.steps
    assert (outcome.arm_id, step.window.count, step.window.init.compile_us) == (CPU, 30, 45_000)
    assert shown == [frame * frame for frame in range(len(shown))]
    with pytest.raises(nnfleet_client.ArmFailed) as failed:
        told["runner"].start("segmentation", "int8.tflite.gpu", {"variant": {"id": "x"}, "delegate": "gpu"})
    assert (failed.value.phase, failed.value.code) == ("compile", "no-such-delegate")


def test_the_third_one_runs_the_decision_for_real(told: dict[str, Any]) -> None:
    *_, third = code_blocks(text("client_sdk/python/README.md"), "python")
    exec(third, told)
    (step,) = told["outcome"].steps
    assert (step.arm_id, step.window.failure, step.window.count) == (CPU, None, 30)
    assert step.window.executed.by == "TfLiteXNNPackDelegate"
