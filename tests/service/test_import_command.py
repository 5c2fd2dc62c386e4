"""`nnfleet import`: files of labs become measurements that teach where the fleet is blind, and count as no phone (R-D8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import make_fingerprint, make_observation, make_report
from flask.testing import FlaskClient
from operating import Operator
from signing_in import signed_in
from sqlalchemy import Engine
from sqlmodel import Session
from typer.testing import CliRunner, Result

from ml.explore import Budget
from policies.fingerprint import Fingerprint
from service import clock
from service.cli.app import app
from service.identity.actor import Role
from service.jobs.recommend import learn
from service.jobs.rollup import roll_up
from service.jobs.run import figures_of
from service.releasing.releases import load
from service.settings import Settings
from service.store import lab, reports
from tests.ml.lab_logs import FALLBACK_LOG, NPU_LOG, OLD_CPU_LOG, PERF_YAML

NPU = "int8.tflite.nnapi.google-edgetpu"
EDGETPU_LOG = NPU_LOG.replace("qti-dsp]", "google-edgetpu]")


@pytest.fixture(autouse=True)
def _installed(operator: Operator, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    operator.publish()
    monkeypatch.setenv("NNFLEET_DATABASE_URL", settings.database_url)


def imported(folder: Path, *options: str, **files: str | None) -> Result:
    """Import files by name and content, of a phone that nobody has reported unless options name its class."""
    report = folder / "report.json"
    report.write_bytes(make_report())
    phone = () if "--class" in options else ("--report", str(report))
    for name, content in files.items():
        if content is not None:
            (folder / name).write_text(content)
    command = ["import", *(str(folder / name) for name in files), "--app", "camera", "--model", "segmentation"]
    return CliRunner().invoke(app, [*command, *phone, *options], env={"COLUMNS": "400"})


INT8 = ("--variant", "seg-int8-tflite")


def stored(engine: Engine, device: Fingerprint) -> list[tuple[Any, ...]]:
    with Session(engine) as session:
        return [(row.arm, row.latency_us, row.set_aside) for row in lab.of_class(session, device.device_class)]


def test_a_log_becomes_a_measurement_of_the_arm_that_ran(tmp_path: Path, engine: Engine) -> None:
    result = imported(tmp_path, *INT8, npu=EDGETPU_LOG)
    assert result.exit_code == 0, result.output
    assert result.output.rstrip().endswith("1 new, 0 known already")
    assert stored(engine, make_fingerprint()) == [(NPU, 12749.1, None)]


def test_the_page_of_the_class_shows_what_labs_measured_and_what_is_not_learned_from(
    tmp_path: Path, client: FlaskClient, known_report: str
) -> None:
    imported(tmp_path, *INT8, npu=EDGETPU_LOG, fell=FALLBACK_LOG)
    reader = signed_in(client.application, "vera", Role.VIEWER)
    page = reader.get(f"/console/classes/{make_fingerprint().device_class}").text
    assert "What labs measured" in page
    assert "no: mixed executors" in page
    assert "12.7\u00a0ms" in page


def test_the_same_content_is_stored_once_under_whatever_name(tmp_path: Path, engine: Engine) -> None:
    imported(tmp_path, *INT8, first=EDGETPU_LOG)
    again = json.loads(imported(tmp_path, *INT8, "--json", first=EDGETPU_LOG, copy=EDGETPU_LOG).output)
    assert [(one["new"], one["known"]) for one in again] == [(0, 1), (0, 1)]
    assert len(stored(engine, make_fingerprint())) == 1


def test_one_bad_file_is_named_and_sinks_no_other(tmp_path: Path, engine: Engine) -> None:
    bad = EDGETPU_LOG.replace("Init: 371513", "Init: soon")
    result = imported(tmp_path, *INT8, missing=None, bad=bad, good=EDGETPU_LOG)
    assert result.exit_code == 1
    assert f"not imported: {tmp_path / 'bad'}, line 15" in result.output
    assert "No such file" in result.output
    assert len(stored(engine, make_fingerprint())) == 1


def test_what_the_cpu_ran_in_the_end_is_kept_and_not_learned_from(tmp_path: Path, engine: Engine) -> None:
    result = imported(tmp_path, *INT8, fell=FALLBACK_LOG)
    assert "1 not learned from: mixed-executors" in result.output
    assert stored(engine, make_fingerprint()) == [(None, 50_000, "mixed-executors")]


def test_a_lab_that_contradicts_the_fleet_a_thousandfold_is_kept_and_not_learned_from(
    tmp_path: Path, client: FlaskClient, engine: Engine, known_report: str
) -> None:
    windows = [make_observation((23, 24), arm="int8.tflite.cpu", golden=None) for _ in range(30)]
    assert client.post("/v1/telemetry", json=windows).get_json()["accepted"] == 30
    figures_of(roll_up(engine, clock.now(), clock.now()))
    imported(tmp_path, *INT8, slow=OLD_CPU_LOG)
    assert stored(engine, make_fingerprint()) == [("int8.tflite.cpu", 23_313.5, "unit-suspect")]


def test_a_perf_file_needs_the_device_that_is_meant(tmp_path: Path, engine: Engine) -> None:
    assert "there is Galaxy S24, Pixel 9" in imported(tmp_path, perf=PERF_YAML).output
    result = imported(tmp_path, "--device", "Pixel 9", perf=PERF_YAML)
    assert result.exit_code == 0, result.output
    assert stored(engine, make_fingerprint()) == [(None, 30_000, "unknown-executor")]


def test_labs_lie_apart_from_the_fleet_and_rank_what_it_has_not_measured(
    tmp_path: Path, engine: Engine, operator: Operator
) -> None:
    imported(tmp_path, *INT8, npu=EDGETPU_LOG)
    with Session(engine) as session:
        assert (reports.count_reports(session), reports.device_classes(session)) == (0, [])
    run = learn(engine, clock.now(), clock.now(), Budget())
    assert (run.figures["cells_measured"], run.figures["cells_from_labs"], run.findings) == (1, 1, ())
    operator.send("POST", "/v1/releases", {"note": "from the lab"})
    release = load(engine)
    assert release is not None
    assert make_fingerprint().driver_stack in release.rankings


def test_the_first_window_of_the_fleet_takes_the_place_of_a_lab(
    tmp_path: Path, client: FlaskClient, engine: Engine, known_report: str
) -> None:
    imported(tmp_path, *INT8, "--class", make_fingerprint().device_class, npu=EDGETPU_LOG)
    client.post("/v1/telemetry", json=[make_observation()])
    run = learn(engine, clock.now(), clock.now(), Budget())
    assert (run.figures["cells_measured"], run.figures["cells_from_labs"]) == (1, 0)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--class", "0123456789abcdef"), "no phone has reported the class"),
        (("--app", "other"), "no model of the app 'other'"),
        (("--model", "other"), "camera has no model 'other'"),
        (("--variant", "other"), "no variant is called 'other'; the model has seg-int8-tflite, seg-fp32-tflite"),
        ((), "which file ran, of 0 that fit? say --variant"),
    ],
)
def test_what_was_measured_on_what_has_to_be_known(tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    result = imported(tmp_path, *options, npu=EDGETPU_LOG)
    assert result.exit_code != 0
    assert says in result.output
