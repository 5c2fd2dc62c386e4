"""`…/device_targeting_configuration.xml` and `nnfleet export play`, from a release and stored reports (R-F6)."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from builders import deny, make_report
from flask.testing import FlaskClient
from operating import Operator
from typer.testing import CliRunner

from policies.play.xml import NAMESPACE
from policies.report import report_id
from service.cli.app import app

PATH = "/v1/exports/camera/device_targeting_configuration.xml"
SPACE = {"config": NAMESPACE}


def upload(client: FlaskClient, **device: Any) -> None:
    body = make_report(device=device)
    assert client.put(f"/v1/reports/{report_id(body)}", data=body).status_code == 201


@pytest.fixture
def fleet(client: FlaskClient, operator: Operator) -> Operator:
    upload(client)
    upload(client, model="Phone 2", soc_manufacturer="QTI", soc_model="SM8750")
    upload(client, model="Phone 3", soc_manufacturer=None, soc_model=None)
    no_npu = deny("no-npu", "*.nnapi.*", "*.gpu", cohort={"socs": ["SM8750"]})
    operator.publish(policy={"denies": [no_npu]})
    return operator


def chips(xml: str) -> list[list[str]]:
    groups = ElementTree.fromstring(xml).findall("config:device-group", SPACE)
    found = [[chip.get("model", "") for chip in group.findall(".//config:system-on-chip", SPACE)] for group in groups]
    return sorted(found)


def test_chips_whose_phones_need_other_files_are_groups_apart(fleet: Operator) -> None:
    answer = fleet.send("GET", PATH)
    assert answer.mimetype == "application/xml"
    assert chips(answer.text) == [["SM8750"], ["Tensor G4"]]
    assert "1 reports name no chip" in answer.text
    assert int(answer.headers["X-Nnfleet-Warnings"]) == answer.text.count("<!-- warning: ")


def test_an_old_release_is_exported_as_it_was(fleet: Operator) -> None:
    fleet.publish("all may run")
    assert chips(fleet.send("GET", f"{PATH}?release=1").text) == [["SM8750"], ["Tensor G4"]]
    assert chips(fleet.send("GET", f"{PATH}?release=2").text) == [["Tensor G4", "SM8750"]]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        (PATH.replace("camera", "gallery"), 404, "unknown-app"),
        (f"{PATH}?release=9", 404, "unknown-release"),
        (f"{PATH}?release=-1", 422, "invalid-field"),
        (f"{PATH}?release=one", 422, "invalid-field"),
    ],
)
def test_what_cannot_be_exported_is_named(fleet: Operator, path: str, status: int, code: str) -> None:
    answer = fleet.send("GET", path)
    assert (answer.status_code, answer.get_json()["code"]) == (status, code)


def test_the_export_is_for_operators(client: FlaskClient) -> None:
    assert client.get(PATH).status_code == 401


def test_the_command_prints_the_file_or_its_values(
    fleet: Operator, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NNFLEET_DATABASE_URL", database_url)
    command = ["export", "play", "--app", "camera"]
    printed = CliRunner().invoke(app, command)
    assert printed.stdout == fleet.send("GET", PATH).text
    values = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert sorted(len(group["selectors"]) for group in values["groups"]) == [1, 1]
    assert CliRunner().invoke(app, ["export", "play", "--app", "gallery"]).exit_code == 2
