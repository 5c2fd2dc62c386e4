"""`nnfleet decide`: the same explanation at a desk, from files or from the installation's database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import deny, make_model_json, make_report
from operating import Operator
from typer.testing import CliRunner, Result

from service.cli.app import app


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    (tmp_path / "report.json").write_bytes(make_report())
    policy = {"app": "camera", "exploration_bp": 1_000, "denies": [deny("no-gpu", "*.gpu")]}
    (tmp_path / "policy.json").write_text(json.dumps(policy), "utf-8")
    models = [make_model_json(), make_model_json(name="depth")]
    (tmp_path / "models.json").write_text(json.dumps(models), "utf-8")
    return tmp_path


def run(desk: Path, *arguments: str, offline: bool = True) -> Result:
    files = ["--policy", str(desk / "policy.json"), "--models", str(desk / "models.json")] if offline else []
    return CliRunner().invoke(
        app, ["decide", "--report", str(desk / "report.json"), "--app", "camera", *files, *arguments]
    )


def test_files_alone_are_enough(desk: Path) -> None:
    answer = run(desk)
    assert answer.exit_code == 0
    assert [line.partition(":")[0] for line in answer.output.splitlines()] == ["segmentation", "depth"]
    assert "segmentation: int8.tflite.nnapi.google-edgetpu → " in answer.output


def test_the_explanation_names_every_arm_deny_and_share(desk: Path) -> None:
    text = run(desk, "--model", "depth", "--unit", "u-7", "--explain").output
    for part in ("camera.depth, burst", "no-gpu: seen to fail", "leads: ", "denied: ", "salt camera.depth", "served"):
        assert part in text
    assert "camera.segmentation" not in text


def test_json_holds_the_same(desk: Path) -> None:
    whole: dict[str, Any] = json.loads(run(desk, "--model", "depth", "--unit", "u-7", "--explain", "--json").output)
    brief: dict[str, Any] = json.loads(run(desk, "--model", "depth", "--unit", "u-7", "--json").output)
    assert whole["release"] is None
    [served] = [split for split in whole["models"]["depth"]["splits"] if split["served"]]
    assert whole["models"]["depth"]["propensity"] == served["weight"] / 10_000
    assert {name: whole["models"]["depth"][name] for name in brief["models"]["depth"]} == brief["models"]["depth"]


def test_releases_of_the_database_are_read_also_old_ones(
    desk: Path, operator: Operator, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NNFLEET_DATABASE_URL", database_url)
    operator.publish()
    operator.publish("the NPU crashes", {"denies": [deny("no-npu", "*.nnapi.*")]})
    assert "nnapi" not in run(desk, offline=False).output
    assert "nnapi" in run(desk, "--release", "1", offline=False).output


def test_rules_hear_what_the_caller_says_of_itself(desk: Path) -> None:
    rule = {"id": "old", "when": "request.version < 3 && request.country == 'DE'", "use": {"ladder": ["*.cpu"]}}
    (desk / "policy.json").write_text(json.dumps({"app": "camera", "rules": [rule]}), "utf-8")
    said = ["--fact", "version=2", "--fact", "country=DE"]
    assert "segmentation: int8.tflite.cpu\n" in run(desk, *said).output
    told = run(desk, "--explain", *said[2:]).output
    assert "old: unknown, unknown request.version\n" in told
    assert "when request.version < 3 && request.country == 'DE'\n" in told
    assert "request.country is DE\n" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--app", "gallery"], "is the policy of 'camera'"),
        (["--model", "nothing"], "no file holds nothing"),
        (["--unit", "x" * 129], "at most 128 characters"),
        (["--fact", "country"], "'country' is no name=value"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(desk: Path, arguments: list[str], said: str) -> None:
    answer = run(desk, *arguments)
    assert answer.exit_code == 2
    assert said in " ".join(answer.output.replace("│", " ").split())
