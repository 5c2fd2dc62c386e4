"""`GET /openapi.json`: the HTTP API, described from its routes, its views' docstrings and the types that read its bodies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from flask import Blueprint, Flask, current_app, jsonify
from flask.typing import ResponseReturnValue
from werkzeug.routing import Rule

import policies
from service.api.openapi_bodies import BODIES, CONTENT_TYPES, MODELS, PARAMETERS, PATH_SCHEMAS, SLUG_SCHEMA, STATUSES
from service.api.openapi_schemas import Schema, components, ref
from service.identity.access import Scope, access_of

blueprint = Blueprint("openapi", __name__)
_METHODS: Final = frozenset({"GET", "PUT", "POST", "PATCH", "DELETE"})


@blueprint.get("/openapi.json")
def openapi() -> ResponseReturnValue:
    """This description, as OpenAPI 3.1."""
    return jsonify(description(current_app))


def description(app: Flask) -> dict[str, Any]:
    """The whole API of this app; the console's pages are none of it."""
    paths: dict[str, dict[str, Any]] = {}
    for rule, method in routes(app):
        paths.setdefault(openapi_path(rule.rule), {})[method.lower()] = _operation(app, rule, method)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "nnfleet",
            "version": policies.__version__,
            "description": "Which model file, on which silicon, with which settings, and what to do if that fails.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": components(MODELS),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def routes(app: Flask) -> Iterator[tuple[Rule, str]]:
    """(rule, method) of everything that belongs to the API."""
    for rule in sorted(app.url_map.iter_rules(), key=lambda r: r.rule):
        if not rule.endpoint.startswith("console."):
            yield from ((rule, method) for method in sorted((rule.methods or set()) & _METHODS))


def openapi_path(rule: str) -> str:
    """Flask's `/v1/policies/<app>` as OpenAPI writes it."""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule)


def _operation(app: Flask, rule: Rule, method: str) -> dict[str, Any]:
    where = (method, rule.rule)
    text = (app.view_functions[rule.endpoint].__doc__ or "").strip()
    operation: dict[str, Any] = {
        "operationId": rule.endpoint.replace(".", "_"),
        "summary": " ".join(text.partition("\n\n")[0].split()),
        "tags": [rule.endpoint.partition(".")[0]],
        "parameters": [_path_parameter(name) for name in sorted(rule.arguments)] + PARAMETERS.get(where, []),
        "responses": _responses(rule, where),
    }
    if where in BODIES:
        operation["requestBody"] = {"required": True, "content": BODIES[where]}
    if access_of(rule.endpoint).scope is Scope.MANAGE:
        operation["security"] = [{"bearer": []}]
    return operation


def _path_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": PATH_SCHEMAS.get(name, SLUG_SCHEMA)}


def _responses(rule: Rule, where: tuple[str, str]) -> dict[str, Any]:
    media, schema = CONTENT_TYPES.get(where, ("application/json", {}))
    stated = {
        str(status): {"description": text} | ({} if status == 304 else _content(media, schema))
        for status, text in STATUSES.get(where, {200: "Done."}).items()
    }
    ofrep = rule.endpoint.startswith("ofrep.")
    failed = _content("application/json", ref("OfrepFailure")) if ofrep else {}
    wrong = _content("application/problem+json", ref("Problem"))
    both = {"content": {**failed.get("content", {}), **wrong["content"]}}
    return stated | {"default": {"description": "What is wrong."} | both}


def _content(media: str, schema: Schema) -> dict[str, Any]:
    return {"content": {media: {"schema": schema} if schema else {}}}
