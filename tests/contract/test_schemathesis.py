"""Whatever the description allows, and much that it does not: no 5xx, no hang, only answers that were announced."""

from __future__ import annotations

import pytest
import schemathesis
from builders import make_report
from flask import Flask
from hypothesis import HealthCheck, given, settings
from operating import TOKEN, Operator
from schemathesis import BaseSchema, Case, GenerationMode
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from policies.report import report_id
from service.api.openapi import description
from service.app import create_app
from service.settings import Settings

CHECKS: list[CheckFunction] = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
EXAMPLES = 6
"""For each operation and kind; the whole file takes half a minute."""

DESCRIBED = description(create_app(Settings("postgresql://nobody@localhost/nothing")))["paths"]
AS_DESCRIBED = [(GenerationMode.POSITIVE, method, path) for path, item in DESCRIBED.items() for method in item]
OTHERWISE = [
    (GenerationMode.NEGATIVE, method, path)
    for path, item in DESCRIBED.items()
    for method, operation in item.items()
    if operation["parameters"] or "requestBody" in operation
]


@pytest.fixture(scope="module")
def described(routed_app: Flask) -> BaseSchema:
    """The description as a client reads it, once: it is the same on every database."""
    return schemathesis.openapi.from_wsgi("/openapi.json", routed_app)


@pytest.fixture
def api(described: BaseSchema, operator: Operator, known_report: str) -> BaseSchema:
    """What is described, with a release and a phone behind it."""
    operator.publish()
    return described


@pytest.mark.parametrize(("kind", "method", "path"), AS_DESCRIBED + OTHERWISE)
def test_no_request_breaks_the_service(api: BaseSchema, kind: GenerationMode, method: str, path: str) -> None:
    operation = api[path][method]

    @settings(max_examples=EXAMPLES, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=kind))
    def ask(case: Case) -> None:
        if method == "get" and case.path_parameters.get("report_id"):
            case.path_parameters["report_id"] = report_id(make_report())
        case.call_and_validate(checks=CHECKS, headers={"Authorization": f"Bearer {TOKEN}"})

    ask()
