"""What a hurried operator does: each command says in a line what is wrong, and never shows where in the code."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.cli.app import app
from service.settings import known_variables

REPORT, MODEL = "docs/tour/report.json", "tests/vectors/hey_jarvis.tflite"
NOWHERE = "postgresql://127.0.0.1:1/nothing"
ON_A_DATABASE = [
    ["key", "list"],
    ["key", "create", "x", "--scope", "lookup"],
    ["user", "list"],
    ["audit", "verify"],
    ["migrate"],
    ["worker", "--once", "rollup"],
    ["health"],
    ["guard"],
    ["recommend"],
    ["backup", "file"],
    ["restore", REPORT],
    ["export", "play", "--app", "camera"],
    ["export", "lake", "--to", "lake"],
    ["decide", "--report", REPORT, "--app", "camera"],
    ["import", REPORT, "--app", "camera", "--model", "m", "--class", "c"],
    ["report", "matrix"],
    ["serve", "--port", "0"],
]
OUT_OF_RANGE = [
    ["serve", "--port", "65536"],
    ["serve", "--port", "-1"],
    ["serve", "--workers", "0"],
    ["health", "--days", "99999999"],
    ["guard", "--crash-grace-s", "99999999999999"],
    ["recommend", "--crash-grace-s", "99999999999999999999"],
    ["rollup", "lake", "--to", "x", "--crash-grace-s", "99999999999999"],
    ["decide", "--report", REPORT, "--app", "camera", "--release", str(2**31)],
    ["key", "create", "x", "--scope", "manage", "--role", "owner"],
    ["rollup", "nonsense://lake", "--to", "x"],
    ["decide", "--report", REPORT, "--app", "camera", "--fact", "x=" + "[" * 5_000],
    ["policy", "lint", "no-such-folder"],
]


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of whoever runs the tests, and a data folder of its own."""
    for name in known_variables():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NNFLEET_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("NNFLEET_DATABASE_URL", NOWHERE)


def told(*arguments: str) -> tuple[int, str]:
    """(exit code, what it said). An exception that left the command is none of its words: it fails the test."""
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stderr


@pytest.mark.parametrize("command", ON_A_DATABASE, ids=" ".join)
def test_a_database_that_does_not_answer_is_told_in_a_line(command: list[str]) -> None:
    code, words = told(*command)
    assert code in {1, 2}
    assert "Connection refused" in words


@pytest.mark.parametrize("command", OUT_OF_RANGE, ids=lambda command: " ".join(command)[:60])
def test_what_is_out_of_range_is_refused_with_how_to_say_it(command: list[str]) -> None:
    code, words = told(*command)
    assert (code, "Invalid value" in words) == (2, True)


@pytest.mark.parametrize(
    "url", ["nonsense", "mysql://x/y", "oracle+nothing://x/y", "postgresql://[::1/x", "postgresql://x:port/y"]
)
def test_what_is_no_address_of_a_database_is_told(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("NNFLEET_DATABASE_URL", url)
    code, words = told("key", "list")
    assert code == 1
    assert words.startswith("nnfleet: ")
    assert words.count("\n") == 1


def test_a_data_folder_that_is_a_file_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NNFLEET_DATABASE_URL")
    (tmp_path / "file").touch()
    for command in (["serve"], ["key", "list"], ["migrate"], ["demo", "--devices", "20"]):
        code, words = told(*command, "--data", str(tmp_path / "file"))
        assert (code, words.count("\n")) == (1, 1)
        assert str(tmp_path / "file") in words


def test_a_misspelt_setting_stops_every_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NNFLEET_DATABSE_URL", "postgresql://db.example/nnfleet")
    for command in (["key", "list"], ["serve"], ["coverage", MODEL]):
        assert told(*command) == (
            1,
            "nnfleet: NNFLEET_DATABSE_URL: there is no such setting; did you mean `NNFLEET_DATABASE_URL`?\n",
        )


@pytest.fixture
def somebody_else() -> Iterator[str]:
    """The address of a server that is no nnfleet."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_server_that_is_no_nnfleet_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, somebody_else: str
) -> None:
    monkeypatch.setenv("NNFLEET_MANAGE_TOKEN", "t")
    for server in ("nonsense", "ftp://x", "http://", "http://[::1", "http://127.0.0.1:1", somebody_else):
        code, words = told("policy", "pull", str(tmp_path), "--server", server)
        assert (code, "Invalid value" in words) == (2, True), server


def test_a_token_that_no_header_can_carry_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NNFLEET_MANAGE_TOKEN", "ключ")
    assert told("policy", "pull", str(tmp_path), "--server", "http://127.0.0.1:1")[0] == 2
