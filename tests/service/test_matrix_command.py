"""`nnfleet report matrix`: three tables and what changed, as HTML and CSV; gaps are named (R-E6)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from builders import make_fingerprint, make_observation, make_report
from flask.testing import FlaskClient
from operating import Operator
from sqlalchemy import Engine
from typer.testing import CliRunner, Result

from ml.explore import Budget
from policies.report import report_id
from service import clock
from service.cli.app import app
from service.jobs.recommend import learn
from service.settings import Settings

CPU = "int8.tflite.cpu"
ELSEWHERE = {"delegate": "cpu"}


def written(out: Path, *args: str) -> Result:
    return CliRunner().invoke(app, ["report", "matrix", "--out", str(out), *args], env={"COLUMNS": "400"})


def rows_of(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.reader(opened))


@pytest.fixture
def fleet(
    client: FlaskClient,
    engine: Engine,
    operator: Operator,
    known_report: str,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two phones, one of which measured two arms; two releases, the second one learned."""
    other = make_report(device={"model": "Phone 2", "soc_manufacturer": "QTI", "soc_model": "SM8750"})
    client.put(f"/v1/reports/{report_id(other)}", data=other)
    cpu = [make_observation((9000,), arm=CPU, requested=ELSEWHERE, golden=None) for _ in range(4)]
    npu = [make_observation((4000, 4100)) for _ in range(9)]
    assert client.post("/v1/telemetry", json=cpu + npu).get_json()["rejected"] == []
    operator.publish()
    learn(engine, clock.now(), clock.now(), Budget())
    operator.publish()
    monkeypatch.setenv("NNFLEET_DATABASE_URL", settings.database_url)


@pytest.mark.usefixtures("fleet")
def test_the_tables_hold_what_was_measured_and_name_what_was_not(tmp_path: Path) -> None:
    result = written(tmp_path)
    assert result.exit_code == 0, result.output
    latency = rows_of(tmp_path / "latency.csv")
    assert len(latency[0]) == 3
    by_arm = {row[0]: row[1:] for row in latency[1:]}
    assert by_arm["camera/segmentation int8.tflite.nnapi.google-edgetpu"][0].endswith("n = 9")
    assert all(row[1] == "not measured" for row in by_arm.values())
    accuracy = {row[0]: row[1] for row in rows_of(tmp_path / "accuracy.csv")[1:]}
    assert accuracy["int8 on nnapi.google-edgetpu"].startswith("9 of 9")
    assert accuracy["int8 on cpu"] == "not measured"
    assert "CONV_2D" in {row[0] for row in rows_of(tmp_path / "operations.csv")}
    changes = rows_of(tmp_path / "changes.csv")
    assert changes[1][0] == "camera/segmentation"
    assert "→" in changes[1][1]
    page = (tmp_path / "index.html").read_text("utf-8")
    assert page.count("<table>") == 4
    assert "@media print" in page


@pytest.mark.usefixtures("fleet")
def test_devices_can_be_named_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    assert written(tmp_path, "--device", make_fingerprint().device_class).exit_code == 0
    assert len(rows_of(tmp_path / "latency.csv")[0]) == 2
    assert "no phone of class nowhere" in written(tmp_path, "--device", "nowhere").output


@pytest.mark.usefixtures("fleet")
def test_what_a_phone_calls_itself_is_no_formula(client: FlaskClient, tmp_path: Path) -> None:
    for maker in ("=HYPERLINK(1)", "+1+1", "-2+3", "@SUM(A1)"):
        body = make_report(device={"manufacturer": maker, "model": maker})
        assert client.put(f"/v1/reports/{report_id(body)}", data=body).status_code == 201
    assert written(tmp_path).exit_code == 0
    for file in tmp_path.glob("*.csv"):
        cells = [cell for row in rows_of(file) for cell in row]
        assert sum(cell.startswith("'") for cell in cells) == 4
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
