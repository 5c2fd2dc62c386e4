"""Policies as code: byte-stable files, precise complaints, and no edit that overwrites another (R-F1)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from operating import TOKEN, Operator
from sqlalchemy import Engine
from typer.testing import CliRunner
from werkzeug.serving import make_server

from service.app import create_app
from service.cli.app import app as cli
from service.settings import Settings

POLICY = "/v1/policies/camera"
STATED = {
    "schema": 1,
    "app": "camera",
    "exploration_bp": 300,
    "denies": [{"id": "q", "arms": ["*.gpu"], "reason": "ä hang", "cohort": {"socs": ["Tensor G4"]}}],
}


@pytest.fixture
def server(settings: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server over HTTP, in this process."""
    monkeypatch.setenv("NNFLEET_MANAGE_TOKEN", TOKEN)
    here = make_server("127.0.0.1", 0, create_app(settings, engine), threaded=True)
    thread = threading.Thread(target=here.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{here.server_port}"
    here.shutdown()
    thread.join(timeout=60)
    here.server_close()


def run(command: str, folder: Path, *options: str) -> tuple[int, str]:
    ran = CliRunner().invoke(cli, ["policy", command, str(folder), *options])
    return ran.exit_code, ran.output


def test_what_is_pulled_twice_has_the_same_bytes(server: str, operator: Operator, tmp_path: Path) -> None:
    operator.send("PUT", POLICY, STATED)
    assert run("pull", tmp_path, "--server", server)[0] == 0
    first = (tmp_path / "camera.yaml").read_bytes()
    assert first.startswith(b"# revision 1\nschema: 1\napp: camera\nexploration_bp: 300\n")
    assert "ä hang".encode() in first
    assert "unchanged" in run("pull", tmp_path, "--server", server)[1]
    assert (tmp_path / "camera.yaml").read_bytes() == first
    assert run("diff", tmp_path, "--server", server) == (0, "")
    assert run("lint", tmp_path)[0] == 0


def test_an_edit_is_told_pushed_and_noted_in_the_file(server: str, operator: Operator, tmp_path: Path) -> None:
    operator.send("PUT", POLICY, STATED)
    run("pull", tmp_path, "--server", server)
    file = tmp_path / "camera.yaml"
    file.write_text(file.read_text("utf-8").replace("300", "500  # a comment of ours"), "utf-8")
    assert run("diff", tmp_path, "--server", server) == (1, "camera/exploration_bp: 300 → 500\n")
    code, told = run("push", tmp_path, "--server", server, "--note", "explore more")
    assert (code, "revision 2, in-review" in told) == (0, True)
    assert file.read_text("utf-8").startswith("# revision 2\n")
    assert "# a comment of ours" in file.read_text("utf-8")
    shown = operator.send("GET", "/v1/revisions/2").get_json()
    assert (shown["base"], shown["note"], shown["content"]["exploration_bp"]) == (1, "explore more", 500)
    assert run("push", tmp_path, "--server", server, "--note", "again")[0] == 0
    assert operator.send("GET", "/v1/revisions").get_json()["revisions"][0]["revision"] == 2
    run("pull", tmp_path, "--server", server)
    assert "# a comment of ours" in file.read_text("utf-8")


def test_a_push_over_somebody_elses_edit_is_refused(server: str, operator: Operator, tmp_path: Path) -> None:
    operator.send("PUT", POLICY, STATED)
    run("pull", tmp_path, "--server", server)
    operator.send("PUT", POLICY, STATED | {"exploration_bp": 1})
    file = tmp_path / "camera.yaml"
    file.write_text(file.read_text("utf-8").replace("300", "500"), "utf-8")
    code, told = run("push", tmp_path, "--server", server, "--note", "mine")
    assert code == 1
    assert "edit-conflict: manage-token saved revision 2" in told
    assert operator.send("GET", POLICY).get_json()["exploration_bp"] == 1


def test_a_new_file_becomes_a_new_policy(server: str, operator: Operator, tmp_path: Path) -> None:
    (tmp_path / "gallery.yaml").write_text("app: gallery\n", "utf-8")
    assert run("push", tmp_path, "--server", server, "--note", "new app")[0] == 0
    assert operator.send("GET", "/v1/policies/gallery").get_json()["app"] == "gallery"


def test_lint_names_file_line_and_column_without_a_server(tmp_path: Path) -> None:
    (tmp_path / "camera.yaml").write_text("app: camera\nexploration: 5\n", "utf-8")
    (tmp_path / "gallery.yaml").write_text("app: camera\n", "utf-8")
    (tmp_path / "good.yaml").write_text("app: good\n", "utf-8")
    code, told = run("lint", tmp_path)
    assert code == 1
    camera, gallery, good = told.splitlines()
    assert "camera.yaml: line 2, column 1" in camera
    assert "named for 'gallery'" in gallery
    assert good.endswith("good.yaml: ok")
    (tmp_path / "empty").mkdir()
    code, told = run("lint", tmp_path / "empty")
    assert (code, "no policies" in told) == (1, True)
    assert run("lint", tmp_path / "emtpy")[0] == 2


def test_nothing_is_pushed_while_one_file_is_wrong(server: str, operator: Operator, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("app: a\n", "utf-8")
    (tmp_path / "b.yaml").write_text("app: b\ntypo: 1\n", "utf-8")
    assert run("push", tmp_path, "--server", server, "--note", "x")[0] == 1
    assert operator.send("GET", "/v1/revisions").get_json()["revisions"] == []


def test_a_server_that_is_not_there_and_a_missing_key_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NNFLEET_HOME", str(tmp_path))
    monkeypatch.delenv("NNFLEET_MANAGE_TOKEN", raising=False)
    code, told = run("pull", tmp_path, "--server", "http://127.0.0.1:1")
    assert (code, "NNFLEET_MANAGE_TOKEN" in told) == (2, True)
    (tmp_path / "manage-token").write_text("kept", "ascii")
    code, told = run("pull", tmp_path, "--server", "http://127.0.0.1:1")
    assert (code, "does not answer" in told) == (2, True)
