"""Findings in the console: what the newest look saw, and whom each touches."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from console_builders import FINDING, NOW, Stage, finding, model_finding, report
from flask import Flask
from flask.testing import FlaskClient
from signing_in import signed_in
from sqlmodel import Session

from service.identity.actor import Role
from service.releasing.suspects import drivers_of, suspects
from service.store.findings import finding_id, note
from tests.console.test_console_changes import assert_only_text, read
from tests.console.test_console_pages import HOSTILE


def test_findings_are_listed_with_when_they_were_seen(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    page = read(client, "/findings")
    for text in (
        f'href="/console/findings/{FINDING}"',
        "wrong output",
        "tensor-g3",
        "5 of 5 windows fail",
        "5,432",
        "<\u00a010⁻⁴",
    ):
        assert text in page
    assert page.count("1\xa0Mar\xa02026, 12:30\xa0UTC") == 1
    assert "in 1 look since 1\xa0Mar\xa02026" in page


def test_what_the_newest_look_does_not_see_is_found_only_when_asked_for(client: FlaskClient, stage: Stage) -> None:
    stage.add_learning_run({}, [finding(), finding("crash", "sm8650")])
    with Session(stage.engine) as session, session.begin():
        note(session, [finding("crash", "sm8650")], NOW + timedelta(hours=1))
    assert re.findall(r'findings/(\w+)-?\w*-\w{12}"', read(client, "/findings")) == ["crash"]
    ever = read(client, "/findings?seen=ever")
    assert len(re.findall(r'findings/[\w-]+-\w{12}"', ever)) == 2
    assert ever.count("not seen any more") == 1
    assert "No finding matches" in read(client, "/findings?q=nobody")
    rows = list(csv.DictReader(io.StringIO(client.get("/console/findings?format=csv&seen=ever&name=crash").text)))
    assert [row["soc"] for row in rows] == ["sm8650"]


def test_an_empty_look_is_told_from_none_at_all(client: FlaskClient, stage: Stage) -> None:
    assert "nothing has looked" in read(client, "/findings")
    stage.add_learning_run({}, [finding()])
    with Session(stage.engine) as session, session.begin():
        note(session, [], NOW)
    assert "The newest look saw nothing" in read(client, "/findings")


def test_a_finding_shows_evidence_and_how_much_of_the_fleet_each_cohort_is(client: FlaskClient, stage: Stage) -> None:
    stage.fill()
    page = read(client, f"/findings/{FINDING}")
    cohorts = re.findall(r'<th scope="row">(the |what |all )[^<]+</th><td><code class="arm">([^<]+)</code>', page)
    assert [arms for _, arms in cohorts] == [
        "int8.*.nnapi.google-edgetpu",
        "*.*.nnapi.google-edgetpu",
        "*.*.nnapi.google-edgetpu",
    ]
    assert re.findall(r'>(\d+)</a> <span class="quiet">of 3<', page) == ["1", "1"]  # one class has the SoC
    assert re.findall(r'>(\d+) <span class="quiet">of 3<', page) == ["2"]  # two have the driver
    assert "33.3%" in page
    assert "mobilenet" in page
    assert 'href="/console/recommendations/1"' in page


def test_a_finding_that_nobody_knows_is_a_page_with_404(client: FlaskClient) -> None:
    assert client.get("/console/findings/crash-0123456789ab").status_code == 404


def test_the_narrowest_cohort_comes_first_and_each_once() -> None:
    told = finding() | {
        "quarantine": {"soc": "tensor-g3", "target": "nnapi.google-edgetpu", "precision": "int8", "model": "camera/a"}
    }
    found = [(s.arms, ",".join(s.cohort.socs), s.model) for s in suspects(told)]
    arms, every = "int8.*.nnapi.google-edgetpu", "*.*.nnapi.google-edgetpu"
    assert found == [
        (arms, "tensor-g3", "camera/a"),
        (arms, "tensor-g3", ""),
        (every, "tensor-g3", ""),
        (every, "", ""),
    ]


def test_the_cohorts_of_a_finding_of_a_model_are_of_that_model() -> None:
    told = model_finding()
    socs = ("sm8150", "sm8250", "sm7125")
    assert [(s.arms, s.cohort.socs, s.model) for s in suspects(told)] == [
        ("fp32.tflite.nnapi.*", socs, "camera/mobilenet"),
        ("*.*.nnapi.*", socs, "camera/mobilenet"),
        ("*.*.nnapi.*", (), "camera/mobilenet"),
    ]


def test_a_finding_of_several_socs_says_so_and_leads_to_no_soc(client: FlaskClient, stage: Stage) -> None:
    stage.add_learning_run({}, [model_finding()])
    fleet = read(client, "/")
    assert ">several SoCs</a>" in fleet
    assert "Classes with this SoC" not in fleet
    assert ">several SoCs</a>" in read(client, "/findings")


def of_sibling(target: str, **of: str) -> dict[str, Any]:
    told = finding("does-not-run", "sm8750") | {"arms": [f"*.*.{target}"], "of": of}
    return told | {"quarantine": {"soc": "sm8750", "target": target, **of}}


def test_a_sibling_of_a_soc_is_named_by_its_number_and_the_version_of_its_driver() -> None:
    """FP-07: (639, runtime) only, not the whole family."""
    narrowest, family, *_ = suspects(of_sibling("qnn", soc_id="639", version="2.48"))
    assert (narrowest.cohort.socs, narrowest.cohort.soc_ids) == (("sm8750",), (639,))
    assert narrowest.when == 'device.runtimes.qnn.version == "2.48"'
    assert (family.name, family.cohort.soc_ids, family.when) == ("all precisions there", (), "")
    driver = next(suspects(of_sibling("nnapi.mtk-neuron", version="8.2")))
    assert (driver.cohort.accelerators, driver.cohort.driver_versions, driver.when) == (("mtk-neuron",), ("8.2",), "")


def test_a_finding_of_a_sibling_counts_the_classes_of_its_number(client: FlaskClient, stage: Stage) -> None:
    for number in (None, 618, 639):
        body = json.loads(report(soc="SM8750"))
        body["device"]["soc_id"] = number
        stage.add_report(json.dumps(body | {"runtimes": {"qnn": "loaded 2.48"}}).encode())
    told = of_sibling("qnn", soc_id="639", version="2.48")
    with Session(stage.engine) as session, session.begin():
        note(session, [told], NOW)
    page = read(client, f"/findings/{finding_id(told)}")
    assert re.findall(r'>(\d+)</a> <span class="quiet">of 3<', page) == ["1", "3"]
    form = (
        signed_in(client.application, "olga", Role.OPERATOR)
        .get(f"/console/quarantines/new?finding={finding_id(told)}")
        .text
    )
    assert re.search(r'<textarea name="soc_ids"[^>]*>\s*639<', form)
    assert "device.runtimes.qnn.version" in form


def test_two_models_with_one_fault_are_two_findings() -> None:
    told = [finding("model-crash", "*") | {"of": {"model": model}} for model in ("camera/a", "camera/b")]
    assert len({finding_id(one) for one in told}) == 2


@pytest.mark.parametrize("soc", ["unknown", "*"])
def test_a_soc_that_nobody_told_cannot_be_named(soc: str) -> None:
    told = finding(soc=soc) | {"quarantine": {"soc": soc, "target": "nnapi.google-edgetpu"}}
    assert {suspect.cohort.socs for suspect in suspects(told)} == {()}


@pytest.mark.parametrize(
    ("arms", "drivers"),
    [
        (["int8.*.nnapi.mtk-neuron", "*.*.nnapi.enn"], {"mtk-neuron", "enn"}),
        (["*.nnapi.mtk-neuron"], {"mtk-neuron"}),
        (["*.dlc.qnn"], {"qnn", "snpe"}),
        (["*.qnn"], {"qnn", "snpe"}),
        (["*.*.nnapi.*"], None),
        (["*.gpu"], None),
        (["*"], None),
        (["*.*.nnapi.enn", "*.*.gpu"], None),
    ],
)
def test_the_drivers_that_arms_need(arms: list[str], drivers: set[str] | None) -> None:
    found = drivers_of(arms)
    assert found == drivers if drivers is None else found is not None and found <= drivers


def test_findings_of_one_soc_are_found_by_it(client: FlaskClient, stage: Stage) -> None:
    stage.add_report(report())
    stage.add_learning_run({}, [finding(), finding(soc="sm8650")])
    page = read(client, "/findings?soc=sm8650")
    assert "1–1 of 1 findings" in page


def test_hostile_texts_of_findings_stay_text(client: FlaskClient, stage: Stage) -> None:
    told = finding(soc=HOSTILE, detail=HOSTILE) | {"evidence": [{HOSTILE: HOSTILE}], "arms": [f"int8.*.{HOSTILE}"]}
    stage.add_learning_run({}, [told])
    assert_only_text(client, ["/findings", f"/findings/{finding_id(told)}", "/recommendations/1"])


def test_a_finding_is_held_against_its_control_and_names_the_operation(client: FlaskClient, stage: Stage) -> None:
    control = {"cells": 9, "failed": 7, "control_cells": 20, "control_failed": 1, "p_value": 0.004, "holds": True}
    told = finding() | {"control": control, "operation": "CONV_2D", "classes": 3, "uses": 0.125}
    stage.add_learning_run({}, [told])
    page = read(client, f"/findings/{FINDING}")
    for text in ("7 of 9 cells fail; of their other arms 1 of 20", "CONV_2D", "12.5% of all windows of the fleet"):
        assert text in page
    assert "not worse than its control" not in page


def test_where_there_is_nothing_to_deny_no_quarantine_is_offered(app: Flask, stage: Stage) -> None:
    olga = signed_in(app, "olga", Role.OPERATOR)
    stage.add_learning_run({}, [finding() | {"quarantine": {}}])
    assert "Propose a quarantine" not in olga.get(f"/console/findings/{FINDING}").text


def test_what_needs_attention_is_told_by_kind_and_by_what_it_does_to_an_app(client: FlaskClient, stage: Stage) -> None:
    slow = [finding("newer-but-slower", f"sm{number}") | {"windows": 900 + number} for number in range(7)]
    stage.add_learning_run({}, [*slow, finding("thermal-step") | {"windows": 5_000}, finding("hang") | {"windows": 3}])
    page = client.get("/console/").text
    told = re.findall(r'<li class="card finding[^>]*>\s*<h3>([^<]*?) <', page)
    assert told == ["hang", "thermal step", "newer but slower"]
    assert 'href="/console/findings?name=newer-but-slower">All 7 of this kind' in page
    first, *others = re.findall(r">(sm\d)</a>", page.partition("newer but slower")[2])
    assert (first, others) == ("sm6", ["sm5", "sm4", "sm3"])
