"""The operator's commands on the database that is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import make_observation
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlmodel import Session
from typer.testing import CliRunner, Result

from service.cli.app import app
from service.settings import Settings
from service.store import job_runs

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture(autouse=True)
def _named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NNFLEET_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("NNFLEET_LOG_LEVEL", "critical")


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == code, result.output
    return result


def test_health_tells_what_became_of_records(client: FlaskClient, known_report: str) -> None:
    client.post("/v1/telemetry", json=[make_observation(), {"no": "record"}])
    found = json.loads(run("health", "--days", "1").stdout)
    assert (found["accepted"], found["rejected"]) == (1, {"invalid-record": 1})


def test_a_job_runs_once_by_its_name(engine: Engine) -> None:
    run("worker", "--once", "rollup")
    with Session(engine) as session:
        assert [(row.job, row.state) for row in job_runs.newest(session, 10)] == [("rollup", "done")]
    assert "there is guard, rollup" in run("worker", "--once", "no-such-job", code=2).output


@pytest.mark.parametrize(("kept", "figures"), [(False, {}), (True, {"unused": 0, "strays": 0, "broken_off": 0})])
def test_jobs_find_the_files_that_the_server_keeps_beside_its_data(
    kept: bool, figures: dict[str, int], engine: Engine, tmp_path: Path
) -> None:
    if kept:
        (tmp_path / "artifacts").mkdir()
    run("worker", "--once", "prune", "--data", str(tmp_path))
    with Session(engine) as session:
        assert job_runs.newest(session, 1)[0].figures == figures


def test_the_lake_goes_where_it_is_told_and_nowhere_without(tmp_path: Path) -> None:
    assert json.loads(run("export", "lake", "--to", str(tmp_path), "--json").stdout) == {"days": 0, "observations": 0}
    assert "NNFLEET_LAKE_URL" in run("export", "lake", code=2).output


def test_a_back_up_is_written_and_not_restored_over_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "fleet.dump"
    assert "bytes" in run("backup", str(file)).stdout
    assert "empty" in run("restore", str(file), code=2).output
