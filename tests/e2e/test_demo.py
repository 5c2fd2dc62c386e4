"""The whole loop, small: real PostgreSQL, real gunicorn, the real SDK on simulated phones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.cli.app import app


@pytest.mark.slow
def test_a_small_fleet_gets_better_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    command = ["demo", "--devices", "150", "--rounds", "3", "--quick", "--json", "--report", str(report)]
    result = CliRunner().invoke(app, command)
    told = json.loads(result.stdout)
    rounds = told["rounds"]
    assert [row["round"] for row in rounds] == [0, 1, 2]
    assert [row["release"] for row in rounds] == [1, 2, 3]
    assert rounds[-1]["mean_regret"] < rounds[0]["mean_regret"]
    assert all(row["mean_regret"] >= 1 for row in rounds)
    assert told["lost_observations"] == 0
    assert told["acknowledged"] >= 3 * 150
    assert told["lookups"] >= 3 * 150
    assert {"name", "devices", "found"} <= set(told["faults"][0])
    assert result.exit_code == (0 if rounds[-1]["mean_regret"] < 1.10 else 1)
    assert "A fleet learns" in report.read_text("utf-8")
