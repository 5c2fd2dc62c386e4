"""OpenFeature's own clients against the real server, unchanged (R-F6)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import make_model_json, make_report
from flask.testing import FlaskClient
from openfeature import api
from openfeature.client import OpenFeatureClient
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import Reason
from operating import Operator

from policies.report import report_id
from service.server import running_server
from service.settings import Settings

REPORT_ID = report_id(make_report())
KEY = "camera.segmentation"
NODE_PACKAGES = (
    "@openfeature/server-sdk@1",
    "@openfeature/ofrep-provider@0",
    "@openfeature/web-sdk@1",
    "@openfeature/ofrep-web-provider@0",
)


@pytest.fixture
def served(settings: Settings, client: FlaskClient, operator: Operator, known_report: str) -> Iterator[str]:
    """A server with a model whose traffic is split, and one that is not."""
    operator.send("PUT", "/v1/models/gallery/tags", make_model_json(app="gallery", name="tags"))
    operator.send("PUT", "/v1/policies/gallery", {"app": "gallery"})
    operator.publish(policy={"exploration_bp": 1_000})
    with running_server(settings, workers=1) as url:
        yield url


@pytest.fixture
def python_client(served: str) -> Iterator[OpenFeatureClient]:
    api.set_provider(OFREPProvider(served))
    yield api.get_client()
    api.clear_providers()


def asked(unit: str | None = "unit-7", **attributes: Any) -> EvaluationContext:
    return EvaluationContext(unit, {"report_id": REPORT_ID, **attributes})


def test_the_python_client_gets_an_arm_with_its_reason_and_metadata(python_client: OpenFeatureClient) -> None:
    found = python_client.get_object_details(KEY, {}, asked())
    assert found.error_code is None
    assert found.reason == Reason.SPLIT
    assert isinstance(found.value, dict)
    assert found.variant == found.value["arm"] == found.value["ladder"][0]
    assert found.flag_metadata["release"] == 1


def test_the_python_client_falls_back_to_its_default_with_the_code_of_the_error(
    python_client: OpenFeatureClient,
) -> None:
    for key, context, code in (
        (KEY, asked(unit=None), ErrorCode.TARGETING_KEY_MISSING),
        (KEY, EvaluationContext("unit-7", {}), ErrorCode.INVALID_CONTEXT),
        (KEY, asked(workload="idle"), ErrorCode.INVALID_CONTEXT),
        ("camera.depth", asked(), ErrorCode.FLAG_NOT_FOUND),
    ):
        found = python_client.get_object_details(key, {"arm": "bundled"}, context)
        assert (found.value, found.error_code) == ({"arm": "bundled"}, code)
    assert python_client.get_string_details(KEY, "bundled", asked()).error_code == ErrorCode.TYPE_MISMATCH


def test_the_python_client_needs_no_unit_where_nothing_is_split(python_client: OpenFeatureClient) -> None:
    found = python_client.get_object_details("gallery.tags", {}, asked(unit=None))
    assert (found.reason, found.error_code) == (Reason.TARGETING_MATCH, None)


@pytest.fixture(scope="session")
def node_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with OpenFeature's clients for Node in it. They are fetched by npm; without it these tests are skipped."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("needs Node with npm, for OpenFeature's JavaScript clients")
    folder = tmp_path_factory.mktemp("openfeature-node")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), *NODE_PACKAGES]
    installed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if installed.returncode != 0:
        pytest.skip("needs npm to reach its packages, for OpenFeature's JavaScript clients")
    shutil.copy(Path(__file__).parent / "node" / "evaluate.mjs", folder)
    return folder


@pytest.mark.slow
def test_the_javascript_clients_get_the_same_arm_as_the_python_one(
    node_folder: Path, served: str, python_client: OpenFeatureClient
) -> None:
    context = {"targetingKey": "unit-7", "report_id": REPORT_ID}
    command = ["node", str(node_folder / "evaluate.mjs"), served, KEY, "camera.depth", json.dumps(context)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    here = python_client.get_object_details(KEY, {}, asked())
    for found in (told["onServer"], told["onWeb"]):
        assert (found["value"], found["variant"], found["reason"]) == (here.value, here.variant, "SPLIT")
        assert found["flagMetadata"] == here.flag_metadata
    assert told["notThere"]["errorCode"] == "FLAG_NOT_FOUND"
    another = python_client.get_object_details(KEY, {}, asked("another-unit"))
    assert told["another"]["value"] == another.value
