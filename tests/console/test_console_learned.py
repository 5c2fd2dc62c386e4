"""Learning runs in the console: gates, what they would change, and rankings with their doubt."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from console_builders import Stage, model_spec, report
from flask.testing import FlaskClient

from policies.fingerprint import Fingerprint
from tests.console.test_console_changes import read

EDGETPU, CPU = "int8.tflite.nnapi.google-edgetpu", "int8.tflite.cpu"
WORSE = {
    "stack": "s-1", "model": "camera/mobilenet", "leads": EDGETPU, "would_lead": CPU, "live_ms": 2.0, "new_ms": 3.0,
    "factor": 1.5, "factor_95": [1.2, 1.9], "uses": 0.5,
}  # fmt: skip
GATE = {
    "rankings": 2, "rankings_compared": 1, "passes": False, "reasons": ["the mean log cost may rise"], "uses_changed": 0.5,
    "expected": {
        "regret_live": 0.2, "regret_new": 0.25, "regret_change_95": [-0.01, 0.1], "log_change": 0.0488,
        "log_change_95": [-0.01, 0.1],
    },
    "checks": [{
        "name": "expected-cost", "value": 0.1, "limit": 0.01, "says": "the mean log cost may rise", "holds": False,
    }],
    "worse": [WORSE], "changes": [WORSE],
    "off_policy": {"uses": 411, "effective": 120.0, "mean_weight": 1.0, "estimates": {"dr": [-1.55, -2.3, 0.1]}},
}  # fmt: skip
FIGURES = {"rankings": 2, "stacks": 1, "cells_measured": 3, "cells_ranked": 9, "seconds": 1.5}


def ranked(*arms: tuple[str, float, float, int], first_bp: int = 9_500) -> dict[str, Any]:
    shares = [[arms[0][0], first_bp, False], [arms[-1][0], 10_000 - first_bp, True]]
    return {"ranked": [list(arm) for arm in arms], "shares": shares, "excluded": {"fp32.tflite.gpu": "accuracy"}}


def learn(stage: Stage, facts: Fingerprint, **models: dict[str, Any]) -> int:
    by_model = {name: {"burst": raw, "sustained": raw} for name, raw in models.items()}
    return stage.add_learning_run({facts.driver_stack: {"camera": by_model}}, [], gate=GATE, **FIGURES)


def learned_anew(stage: Stage) -> Fingerprint:
    """A live release where the accelerator leads, and a run where the CPU does, and another model is new."""
    _, facts = stage.add_report(report())
    stage.add_model(model_spec())
    stage.learn(facts, findings=[])
    stage.publish()
    learn(
        stage, facts, mobilenet=ranked((CPU, 2.0, 0.1, 30), (EDGETPU, 4.0, 0.2, 50)), other=ranked((CPU, 9.0, 0.5, 0))
    )
    return facts


def test_runs_are_listed_with_their_gate_and_their_revision(client: FlaskClient, stage: Stage) -> None:
    learned_anew(stage)
    page = read(client, "/recommendations")
    assert page.index("/recommendations/2") < page.index("/recommendations/1")
    assert ">gate closed</span>" in page
    assert ">not judged</span>" in page
    assert ">in review</span>" in page
    assert "+5.0%" in page
    rows = list(csv.DictReader(io.StringIO(client.get("/console/recommendations?format=csv").text)))
    assert [row["state"] for row in rows] == ["in-review", "live"]


def test_a_run_shows_why_its_gate_is_closed_and_what_was_measured(client: FlaskClient, stage: Stage) -> None:
    learned_anew(stage)
    page = read(client, "/recommendations/2")
    for text in (
        "the mean log cost may rise",
        "411 uses, worth 120",
        "doubly robust: 0.21×",
        "1 of 2 rankings",
        "1.50×",
    ):
        assert text in page


def test_rankings_say_who_leads_instead_of_whom_with_gain_and_doubt(client: FlaskClient, stage: Stage) -> None:
    learned_anew(stage)
    page = read(client, "/recommendations/2")
    assert f'<code class="arm">{EDGETPU}</code> → <code class="arm">{CPU}</code>' in page
    assert "0.50×" in page
    assert "1.64\xa0ms – 2.43\xa0ms" in page
    assert re.search(r"Another arm leads</a></dt><dd>1</dd>", page)
    assert "1–1 of 1 rankings" in read(client, "/recommendations/2?change=new")
    assert "1–1 of 1 rankings" in read(client, "/recommendations/2?q=OTHER+tensor")
    assert "No ranking matches" in read(client, "/recommendations/2?change=stays")


def test_rankings_are_sorted_by_gain_first_and_by_what_is_asked(client: FlaskClient, stage: Stage) -> None:
    learned_anew(stage)

    def models(query: str) -> list[str]:
        rows = csv.DictReader(io.StringIO(client.get(f"/console/recommendations/2?format=csv{query}").text))
        return [row["model"] for row in rows]

    assert models("") == ["mobilenet", "other"]
    assert models("&sort=-doubt") == ["other", "mobilenet"]
    assert models("&sort=windows") == ["other", "mobilenet"]
    assert models("&sort=nothing") == ["mobilenet", "other"]


def test_one_ranking_shows_every_arm_with_its_interval_and_what_is_excluded(client: FlaskClient, stage: Stage) -> None:
    facts = learned_anew(stage)
    page = read(client, f"/recommendations/2?stack={facts.driver_stack}&model=camera/mobilenet")
    part = page.partition('id="asked-title"')[2].partition('id="leaders-title"')[0]
    assert re.findall(r'<code class="arm">([^<]+)</code>', part)[:3] == [CPU, EDGETPU, "fp32.tflite.gpu"]
    assert "excluded: accuracy" in part
    assert "Sustained" in part
    assert "2.70\xa0ms – 5.92\xa0ms" in part
    assert 'id="asked-title"' not in read(client, "/recommendations/2?stack=none&model=camera/mobilenet")


def test_a_run_before_any_release_changes_nothing_and_says_so(client: FlaskClient, stage: Stage) -> None:
    _, facts = stage.add_report(report())
    learn(stage, facts, mobilenet=ranked((CPU, 2.0, 0.1, 30)))
    page = read(client, "/recommendations/1")
    assert "no release is live" in page
    assert re.search(r"Ranked for the first time</a></dt><dd>1</dd>", page)


def test_the_revision_of_a_run_shows_its_gate_and_leads_to_it(client: FlaskClient, stage: Stage) -> None:
    learned_anew(stage)
    number = re.findall(r"/console/revisions/(\d+)", read(client, "/recommendations"))[0]
    page = read(client, f"/revisions/{number}")
    assert 'href="/console/recommendations/2"' in page
    assert ">gate closed</span>" in page
    assert "411 uses" in page


def test_a_run_that_there_is_none_of_is_a_page_with_404(client: FlaskClient) -> None:
    assert client.get("/console/recommendations/7").status_code == 404
    assert client.get("/console/recommendations/99999999999").status_code == 404
