"""`nnfleet policy`: what a file states is checked as it would be when it is saved."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_document
from typer.testing import CliRunner

from policies.document_text import parse_document_text
from service.cli.app import app

LIST = (
    "order,conditions,status\n"
    "0,gpu_model == mali_g71 AND device_model == sm_g950f AND android_sdk_version <= 28,UNSUPPORTED\n"
    "1,gpu_model == mali_g71 AND android_sdk_version >= 28,SUPPORTED\n"
)


def run(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["policy", *args], env={"COLUMNS": "400", "NO_COLOR": "1"})
    return result.exit_code, result.output


@pytest.mark.parametrize("ending", ["yaml", "yml", "json"])
def test_a_good_policy_is_told_what_it_states(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"camera.{ending}"
    file.write_text(make_document(rules=[{"id": "r", "when": "true", "use": "learned"}]).model_dump_json(by_alias=True))
    assert run("check", str(file)) == (0, f"{file}: app camera, 1 rules, 0 denies\n")


def test_a_wrong_one_is_told_where_and_what_was_meant(tmp_path: Path) -> None:
    file = tmp_path / "camera.yaml"
    file.write_text("app: camera\nrules:\n- id: r\n  when: devise.api_level > 3\n  use: learned\n")
    code, output = run("check", str(file))
    assert code == 2
    assert "line 4, column 9: rules.0.when: `devise` is not known; did you mean `device`?" in " ".join(output.split())


def test_a_gpu_list_becomes_denies_of_a_policy(tmp_path: Path) -> None:
    listed, base = tmp_path / "list.csv", tmp_path / "camera.yaml"
    listed.write_text(LIST)
    base.write_text("app: camera\nexploration_bp: 100\ndenies:\n- {id: mine, arms: ['*'], reason: mine}\n")
    code, output = run("import-gpu-allowlist", str(listed), "--app", "camera", "--into", str(base))
    assert code == 0
    document = parse_document_text(output.encode(), media_type="application/yaml")
    assert document.exploration_bp == 100
    assert [deny.id for deny in document.denies] == ["mine", "gpu-list-0001"]
    assert document.denies[1].when == 'device.model_key == "sm_g950f" && device.api_level <= 27'
    code, output = run("import-gpu-allowlist", str(listed), "--app", "camera", "--json")
    assert [deny.id for deny in parse_document_text(output.encode()).denies] == ["gpu-list-0001"]


@pytest.mark.parametrize(
    ("text", "app_name", "told"), [("x,y\n", "camera", "columns"), (LIST, "gallery", "not of 'gallery'")]
)
def test_what_cannot_be_imported_is_refused(tmp_path: Path, text: str, app_name: str, told: str) -> None:
    listed, base = tmp_path / "list.csv", tmp_path / "camera.yaml"
    listed.write_text(text)
    base.write_text("app: camera\n")
    code, output = run("import-gpu-allowlist", str(listed), "--app", app_name, "--into", str(base))
    assert code == 2
    assert told in output
