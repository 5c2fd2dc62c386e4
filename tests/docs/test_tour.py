"""The tour of the README, run as it stands there, against the real server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from service.server import running_server
from service.settings import Settings
from service.store import schema
from service.store.embedded import embedded_postgresql
from service.store.engine import make_engine
from tests.docs.markdown import ROOT, code_blocks, section, text

ADDRESS = "http://127.0.0.1:8080"
UNTIL_RELEASE_2 = """
sleep() {
    for _ in {1..600}; do
        curl -sS $SERVER/readyz | grep -Eq '"release": *2' && return
        command sleep 0.1
    done
    return 1
}
"""
"""A reader waits a second for the release; on a busy machine it may take longer."""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="the tour needs curl")
def test_the_tour_leads_from_an_unknown_phone_to_a_learned_decision(tmp_path: Path) -> None:
    folder = tmp_path / ".local" / "share" / "nnfleet"
    folder.mkdir(parents=True)
    (folder / "manage-token").write_text("a token of this test", "ascii")
    with embedded_postgresql(folder / "postgresql") as url:
        settings = Settings(database_url=url, manage_token="a token of this test", log_level="error")
        engine = make_engine(settings)
        schema.upgrade(engine)
        engine.dispose()
        with running_server(settings, workers=1) as server:
            told = _run(server, tmp_path)
    answers = [json.loads(found) for found in _documents(told)]
    model, policy, first, unknown, uploaded, cold, sent, again, second, learned = answers
    assert model["variants"] == 2
    assert policy["denies"][0]["id"] == "int8-on-gpu"
    assert (first["release"], second["release"]) == (1, 2)
    assert unknown["code"] == "unknown-report"
    assert uploaded["anomalies"] == []
    because = cold["models"]["segmentation"]["because"]
    assert [row.get("rule", row.get("deny")) for row in because] == ["out-of-the-box", "int8-on-gpu"]
    assert cold["models"]["segmentation"]["plans"]["main"]["splits"][0]["weight"] >= 9_000
    assert "\n304\n" in told
    assert (sent["accepted"], [row["reason"] for row in sent["set_aside"]]) == (2, ["latency-out-of-range"])
    assert again["duplicate"] == 3
    assert learned["models"]["segmentation"]["because"][0]["rule"] == "learned"
    assert learned["release"] == 2


def _run(server: str, home: Path) -> str:
    script = "\n".join(code_blocks(section(text("README.md"), "A five-minute tour"), "bash"))
    assert ADDRESS in script
    assert script.count("\nsleep 1\n") == 1
    script = UNTIL_RELEASE_2 + script.replace(ADDRESS, server).replace(".venv/bin/", f"{Path(sys.executable).parent}/")
    environment = {"PATH": os.defpath, "HOME": str(home)}
    command = ["bash", "-eu", "-o", "pipefail", "-c", script]
    ran = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _documents(told: str) -> list[str]:
    """The JSON documents in what the tour printed."""
    decoder = json.JSONDecoder()
    found, at = [], 0
    while (at := told.find("{", at)) >= 0:
        _, end = decoder.raw_decode(told, at)
        found.append(told[at:end])
        at = end
    return found
