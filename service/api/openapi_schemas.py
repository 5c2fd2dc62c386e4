"""JSON Schemas of bodies, from the types that read them."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from policies.observation import Observation
from service.api.openapi_rollout import ROLLOUT

Schema = dict[str, Any]
REF: Final = "#/components/schemas/{model}"
SLUG: Final = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"

PROBLEM: Final[Schema] = {
    "description": "RFC 9457. `code` is stable; `detail` is for people.",
    "type": "object",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "field": {"type": "string"},
        "limit": {"type": "number"},
        "line": {"type": "integer", "minimum": 1},
        "column": {"type": "integer", "minimum": 1},
        "expected": {"type": "string"},
        "nearest": {"type": "string"},
    },
}
OFREP_FAILURE: Final[Schema] = {
    "description": "An error as OpenFeature's clients read it.",
    "type": "object",
    "required": ["errorCode", "errorDetails"],
    "properties": {
        "key": {"type": "string"},
        "errorCode": {"type": "string"},
        "errorDetails": {"type": "string"},
    },
}
EVALUATION: Final[Schema] = {
    "description": "A flag. Without a value the client keeps the default in its code.",
    "type": "object",
    "required": ["key", "variant", "reason"],
    "properties": {
        "key": {"type": "string"},
        "value": {},
        "variant": {"type": "string"},
        "reason": {"enum": ["STATIC", "DEFAULT", "TARGETING_MATCH", "SPLIT", "DISABLED"]},
        "metadata": {"type": "object"},
    },
}


def components(models: list[type[BaseModel]]) -> dict[str, Schema]:
    """Schemas by name: of these types and what they are made of, of observations, problems and flags."""
    _, found = models_json_schema([(model, "validation") for model in models], ref_template=REF)
    _, observed = msgspec.json.schema_components([Observation], ref_template="#/components/schemas/{name}")
    made = {"Problem": PROBLEM, "OfrepFailure": OFREP_FAILURE, "Evaluation": EVALUATION, "Rollout": ROLLOUT}
    return {**found.get("$defs", {}), **observed, **made}


def ref(name: str) -> Schema:
    """A reference to one of the components."""
    return {"$ref": REF.format(model=name)}
