"""One model in the console: operations, coverage as measured, and which class gets which variant."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from builders import chain
from console_builders import Stage, model_spec, report
from flask.testing import FlaskClient

from service.console.coverage_map import MOST_DRIVERS, coverage_map
from tests.console.test_console_changes import read


def with_graph() -> dict[str, Any]:
    spec = model_spec()
    spec["variants"][1]["graph"] = chain("CONV_2D", "SOFTMAX").to_json()
    return spec


def test_a_model_shows_how_often_each_variant_has_an_operation(client: FlaskClient, stage: Stage) -> None:
    stage.add_model(with_graph())
    page = read(client, "/models/camera/mobilenet")
    part = page.partition('id="census-title"')[2]
    assert re.search(
        r"<code>CONV_2D</code></th><td class=\"number\"><span class=\"quiet\">not read</span></td><td class=\"number\">\d",
        part,
    )
    assert "never served" not in page


def test_a_model_says_how_far_off_a_phone_may_be_or_that_nothing_tells(client: FlaskClient, stage: Stage) -> None:
    stage.add_model(model_spec())
    assert "<dt>Golden check</dt><dd>no reference</dd>" in read(client, "/models/camera/mobilenet")
    stage.add_model(model_spec() | {"golden": {"input_sha256": "a" * 64, "tolerance": 0.04}})
    assert "<dt>Golden check</dt><dd>within 4.0%</dd>" in read(client, "/models/camera/mobilenet")


def test_classes_get_variants_in_shares_as_the_live_release_decides(client: FlaskClient, stage: Stage) -> None:
    _, facts = stage.add_report(report())
    stage.add_report(report("Other", "Chip 9"))
    stage.add_model(model_spec())
    stage.learn(facts, findings=[])
    stage.publish()
    page = read(client, "/models/camera/mobilenet?q=pixel")
    assert "100% mobilenet-int8" in page
    assert ">learned</td>" in page
    assert "4.25\xa0ms" in page
    assert "1–1 of 1 classes" in page
    assert "No class matches" in read(client, "/models/camera/mobilenet?q=nothing")


def test_a_model_that_is_in_no_release_is_decided_for_nobody(client: FlaskClient, stage: Stage) -> None:
    stage.add_report(report())
    stage.add_model(model_spec())
    assert "nothing is decided for it" in read(client, "/models/camera/mobilenet")
    assert client.get("/console/models/camera/none").status_code == 404


def test_what_drivers_took_over_is_drawn_by_model_and_by_precision(client: FlaskClient, stage: Stage) -> None:
    report_id, _ = stage.add_report(report())
    stage.add_model(model_spec())
    part = {"by": "nnapi:google-edgetpu", "delegated_nodes": 3, "total_nodes": 4, "partitions": 1}
    stage.measure(report_id, 2, executed=part)
    for path in ("/models", "/models/camera/mobilenet"):
        assert re.search(r'<td class="heat-2" title="2 windows">75\.0%</td>', read(client, path)), path
    rows = list(csv.DictReader(io.StringIO(client.get("/console/models/camera/mobilenet?format=csv").text)))
    assert [(row["arm"], row["windows"], row["device_classes"]) for row in rows] == [
        ("int8.tflite.nnapi.google-edgetpu", "2", "1")
    ]


def test_a_map_has_the_busiest_drivers_and_leaves_the_cpu_out() -> None:
    measured = [("a", f"int8.tflite.nnapi.d{n}", n + 1, (n + 1) * 0.96) for n in range(MOST_DRIVERS + 3)]
    drawn = coverage_map([*measured, ("a", "int8.tflite.cpu", 99, 99.0), ("b", "fp32.tflite.gpu", 0, 0.0)], ["a", "b"])
    assert drawn is not None
    assert (len(drawn.drivers), drawn.left_out) == (MOST_DRIVERS, 3)
    assert drawn.drivers[0] == f"nnapi.d{MOST_DRIVERS + 2}"
    [(_, cells), (_, empty)] = drawn.rows
    assert {cell.level for cell in cells if cell} == {4}
    assert set(empty) == {None}
    assert coverage_map([("a", "int8.tflite.cpu", 5, 5.0)], ["a"]) is None
