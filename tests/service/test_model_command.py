"""R-B1, R-B5: `nnfleet model add` against the real server; files go up and come down as streams."""

from __future__ import annotations

import hashlib
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from model_families import make_family
from model_wheels import wheel_file
from operating import TOKEN, Operator
from typer.testing import CliRunner

from service.cli.app import app as cli
from service.server import WebServer, running_processes
from service.settings import Settings

WAKE_WORD = Path(__file__).parents[1] / "vectors" / "hey_jarvis.tflite"
STATED = ("--task", "keyword-spotting", "--latency-target-ms", "30")


@pytest.fixture(params=[WebServer.GUNICORN])
def server(
    request: pytest.FixtureRequest, settings: Settings, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    monkeypatch.setenv("NNFLEET_MANAGE_TOKEN", TOKEN)
    with running_processes(settings, workers=1, kind=request.param) as running:
        yield running.url


def add(server: str, *words: str) -> tuple[int, str]:
    ran = CliRunner(env={"COLUMNS": "200"}).invoke(cli, ["model", "add", *words, "--server", server])
    return ran.exit_code, ran.output


@pytest.mark.parametrize("server", list(WebServer), indirect=True)
def test_files_become_variants_that_phones_can_download(server: str, operator: Operator, tmp_path: Path) -> None:
    code, told = add(server, "camera.wake", str(WAKE_WORD))
    assert (code, "state --task and --latency-target-ms" in told) == (2, True)

    code, told = add(server, "camera.wake", str(WAKE_WORD), *STATED)
    assert code == 0, told
    assert "52,272 bytes, int8 tflite" in told
    assert "approved" in told

    vendor = tmp_path / "wake-vendor.bin"
    vendor.write_bytes(b"compiled")
    code, told = add(
        server, "camera.wake", str(vendor), "--format", "dlc", "--precision", "int8", "--target", "snapdragon-8-gen-3"
    )
    assert code == 0, told
    again = shutil.copy(WAKE_WORD, tmp_path / "hey_jarvis.tflite")
    assert "was here" in add(server, "camera.wake", str(again))[1]

    variants = operator.send("GET", "/v1/models/camera/wake").get_json()["variants"]
    assert [(v["id"], v["format"], v["size_bytes"]) for v in variants] == [
        ("wake-vendor", "dlc", 8),
        ("hey_jarvis", "tflite", 52_272),
    ]
    assert fetched(server, variants[1]["sha256"]) == WAKE_WORD.read_bytes()
    assert fetched(server, variants[1]["sha256"], "bytes=50000-50999") == WAKE_WORD.read_bytes()[50_000:51_000]


def test_a_family_comes_with_its_golden_reference(server: str, operator: Operator, tmp_path: Path) -> None:
    payload = wheel_file("pyopen_wakeword-1.1.0: pyopen_wakeword/models/okay_nabu.tflite")
    family = make_family(payload, tmp_path, "nabu")
    code, told = add(server, "camera.nabu", *map(str, family.values()), *STATED, "--golden")
    assert code == 0, told
    assert "nabu-int8.tflite: off by 0." in told
    golden = operator.send("GET", "/v1/models/camera/nabu").get_json()["golden"]
    assert golden["tolerance"] == 0.02
    assert len(fetched(server, golden["input_sha256"])) == 16 * 96 * 4
    assert len(fetched(server, golden["output_sha256"])) == 4


def test_a_broken_file_is_refused_with_what_is_wrong(server: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(WAKE_WORD.read_bytes()[:9_000])
    code, told = add(server, "camera.wake", str(broken), *STATED)
    assert (code, "invalid-model-file" in told) == (2, True)


def fetched(server: str, sha256: str, part: str | None = None) -> bytes:
    asked = urllib.request.Request(f"{server}/v1/artifacts/{sha256}", headers={"Range": part} if part else {})
    with urllib.request.urlopen(asked, timeout=30) as answer:
        payload: bytes = answer.read()
    if part is None:
        assert hashlib.sha256(payload).hexdigest() == sha256
    return payload
