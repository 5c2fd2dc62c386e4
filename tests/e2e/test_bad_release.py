"""A release that is slower on one SoC stops itself: real PostgreSQL, real gunicorn, the real SDK on simulated phones (R-F3)."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from service.cli.app import app


@pytest.mark.slow
def test_a_bad_release_is_stopped_early_and_undone() -> None:
    result = CliRunner().invoke(app, ["demo", "--scenario", "bad-release", "--json"])
    told = json.loads(result.stdout)
    assert result.exit_code == 0, told
    last = told["looks"][-1]
    assert (told["state"], last["act"], told["undone"]) == ("stopped", "stop", True)
    assert last["step"] <= 1
    assert (
        "p90-latency is" in told["because"]
    )  # that the SoC is named holds with seeds: tests/policies/test_guardrails.py
    assert 1.05 < last["cohort_ratio"] < told["slower"] + 0.15
    assert all(look["act"] in {None, "advance"} for look in told["looks"][:-1])
