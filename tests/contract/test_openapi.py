"""`/openapi.json` is held to the routes, and the routes to it."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from flask import Flask

from policies.observation import Observation
from service.api.openapi import description, openapi_path, routes
from service.api.openapi_bodies import BODIES, CONTENT_TYPES, MODELS, PARAMETERS, STATUSES
from service.app import create_app
from service.settings import Settings

APP = create_app(Settings("postgresql://nobody@localhost/nothing"))
ROUTES = {(method, rule.rule) for rule, method in routes(APP)}
DESCRIBED = description(APP)


def operation(method: str, rule: str) -> dict[str, Any]:
    found: dict[str, Any] = DESCRIBED["paths"][openapi_path(rule)][method.lower()]
    return found


def test_every_route_is_described_and_nothing_else() -> None:
    described = {(method.upper(), path) for path, item in DESCRIBED["paths"].items() for method in item}
    assert described == {(method, openapi_path(rule)) for method, rule in ROUTES}


@pytest.mark.parametrize(("method", "rule"), sorted(ROUTES))
def test_a_route_says_what_it_does_and_names_its_parameters(method: str, rule: str) -> None:
    told = operation(method, rule)
    assert told["summary"].endswith((".", ".”"))
    named = {parameter["name"] for parameter in told["parameters"] if parameter["in"] == "path"}
    assert named == set(re.findall(r"<(?:\w+:)?(\w+)>", rule))
    assert "default" in told["responses"]


@pytest.mark.parametrize(("method", "rule"), sorted(r for r in ROUTES if r[0] in {"PUT", "POST", "PATCH"}))
def test_a_route_that_takes_a_body_says_which(method: str, rule: str) -> None:
    assert operation(method, rule)["requestBody"]["content"]


def test_the_tables_name_routes_that_exist() -> None:
    assert set(BODIES) | set(STATUSES) | set(CONTENT_TYPES) | set(PARAMETERS) <= ROUTES


def test_every_reference_leads_to_a_schema() -> None:
    known = {f"#/components/schemas/{name}" for name in DESCRIBED["components"]["schemas"]}
    assert set(_references(DESCRIBED)) <= known


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        here = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return here + [found for child in value.values() for found in _references(child)]
    return [found for child in value for found in _references(child)] if isinstance(value, list) else []


def test_no_two_types_share_a_name() -> None:
    (_, observed) = msgspec.json.schema_components([Observation])
    stated = {name for model in MODELS for name in (model.__name__, *model.model_json_schema().get("$defs", {}))}
    assert stated & observed.keys() == set()


def test_the_description_is_served() -> None:
    app: Flask = APP
    answer = app.test_client().get("/openapi.json")
    assert answer.get_json() == DESCRIBED
