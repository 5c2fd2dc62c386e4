"""What each route takes and answers, where that does not follow from the route itself. Tables only."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel

from policies.document import PolicyDocument
from policies.flags import FlagDocument
from policies.model import ModelSpec
from policies.quarantine import Quarantine
from policies.report import CapabilityReport
from policies.revision import PERSONAL, Kind, State
from policies.rollouts.local_time import SHAPE
from policies.rollouts.rollout import BY_PERSONS, RolloutPlan
from service.api.decide import Question
from service.api.ofrep import Context
from service.api.openapi_schemas import SLUG, Schema, ref
from service.simulating.limits import MOST_BUDGET_S

Route = tuple[str, str]
"""(method, rule as Flask writes it)."""
Content = dict[str, Any]

MODELS: Final[list[type[BaseModel]]] = [
    CapabilityReport,
    Context,
    FlagDocument,
    ModelSpec,
    PolicyDocument,
    Quarantine,
    Question,
    RolloutPlan,
]


def _json(schema: Schema) -> Content:
    return {"application/json": {"schema": schema}}


_FILE: Final[Content] = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_OFREP_REQUEST: Final = _json({"type": "object", "properties": {"context": ref("Context")}})
_NOTE: Final[Schema] = {
    "type": "object",
    "required": ["note"],
    "additionalProperties": False,
    "properties": {"note": {"type": "string", "minLength": 1, "maxLength": 500}},
}
_DRAFT: Final[Schema] = {
    "type": "object",
    "required": ["kind", "content", "note"],
    "additionalProperties": False,
    "properties": {
        "kind": {"enum": ["policy", "model", "quarantine", "flags"]},
        "content": {"anyOf": [ref("PolicyDocument"), ref("ModelSpec"), ref("Quarantine"), ref("FlagDocument")]},
        "note": {"type": "string", "minLength": 1, "maxLength": 500},
        "base": {"type": ["integer", "null"], "minimum": 1},
    },
}
_SIMULATION: Final[Schema] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "kind": {"enum": ["policy", "model", "quarantine"]},
        "content": _DRAFT["properties"]["content"],
        "revision": {"type": "integer", "minimum": 1, "maximum": 2_147_483_647},
        "budget_s": {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_BUDGET_S},
        "wait": {"type": "boolean"},
    },
}
_ROLLOUT: Final[Schema] = {
    "type": "object",
    "required": ["note"],
    "additionalProperties": False,
    "properties": {
        "note": {"type": "string", "minLength": 1, "maxLength": 500},
        "steps": {"type": "array", "items": ref("RolloutStep"), "minItems": 1, "maxItems": 20},
        "start": {"type": ["string", "null"], "maxLength": 100, "examples": [SHAPE]},
        "hours": {"type": "array", "items": {"type": "string", "maxLength": 100}, "maxItems": 10},
        "limits": ref("Limits"),
        "false_stop_rate": {"type": "number", "minimum": 1e-6, "maximum": 0.5},
    },
}
_QUARANTINE: Final[Schema] = {
    "type": "object",
    "required": ["quarantine", "note"],
    "additionalProperties": False,
    "properties": {"quarantine": ref("Quarantine"), "note": _NOTE["properties"]["note"]},
}
_KILL: Final[Schema] = {
    "type": "object",
    "required": ["reason", "confirm"],
    "additionalProperties": False,
    "properties": {
        "app": {"type": "string", "pattern": SLUG},
        "model": {"type": "string", "pattern": SLUG},
        "arm": {"type": "string", "minLength": 1, "maxLength": 160},
        "reason": {"type": "string", "minLength": 1, "maxLength": 500},
        "confirm": {"type": "string", "minLength": 1, "maxLength": 160},
    },
}
_OBSERVATIONS: Final[Schema] = {"type": "array", "items": ref("Observation"), "maxItems": 2000}

BODIES: Final[dict[Route, Content]] = {
    ("POST", "/ofrep/v1/evaluate/flags"): _OFREP_REQUEST,
    ("POST", "/ofrep/v1/evaluate/flags/<key>"): _OFREP_REQUEST,
    ("POST", "/v1/decide"): _json(ref("Question")),
    ("POST", "/v1/releases"): _json(_NOTE),
    ("POST", "/v1/releases/<int:number>/roll-back"): _json(_NOTE),
    ("POST", "/v1/revisions"): _json(_DRAFT),
    ("POST", "/v1/revisions/<int:number>/<step>"): _json(_NOTE),
    ("POST", "/v1/quarantines"): _json(_QUARANTINE),
    ("POST", "/v1/quarantines/<quarantine>/end"): _json(_NOTE),
    ("POST", "/v1/kill"): _json(_KILL),
    ("POST", "/v1/rollouts"): _json(_ROLLOUT),
    ("POST", "/v1/rollouts/<int:number>/<act>"): _json(_NOTE),
    ("POST", "/v1/simulations"): _json(_SIMULATION),
    ("POST", "/v1/telemetry"): _json(_OBSERVATIONS) | {"application/x-ndjson": {"schema": {"type": "string"}}},
    ("PUT", "/v1/artifacts/<sha256>"): _FILE,
    ("PUT", "/v1/flags/<app>"): _json(ref("FlagDocument")),
    ("PUT", "/v1/models/<app>/<name>"): _json(ref("ModelSpec")),
    ("PUT", "/v1/policies/<app>"): _json(ref("PolicyDocument"))
    | {"application/yaml": {"schema": ref("PolicyDocument")}},
    ("PUT", "/v1/reports/<report_id>"): _json(ref("CapabilityReport")),
}

STATUSES: Final[dict[Route, dict[int, str]]] = {
    ("GET", "/readyz"): {200: "Lookups and uploads work.", 503: "The database is away."},
    ("GET", "/v1/artifacts/<sha256>"): {200: "The file.", 206: "The range.", 304: "The client has it."},
    ("GET", "/v1/decisions/<app>/<report_id>"): {200: "The document.", 304: "The client has it."},
    ("POST", "/ofrep/v1/evaluate/flags"): {200: "All flags.", 304: "The client has them."},
    ("POST", "/ofrep/v1/evaluate/flags/<key>"): {200: "The flag.", 304: "The client has it."},
    ("POST", "/v1/releases"): {201: "Published."},
    ("POST", "/v1/releases/<int:number>/roll-back"): {201: "Published again, under the next number."},
    ("POST", "/v1/revisions"): {201: "A draft."},
    ("POST", "/v1/quarantines"): {201: "In force.", 202: "Somebody has to review it."},
    ("POST", "/v1/kill"): {201: "Switched off."},
    ("POST", "/v1/rollouts"): {201: "Its first step is live, or it is scheduled."},
    ("POST", "/v1/simulations"): {200: "What would change.", 202: "It runs; look at it by its number."},
    ("PUT", "/v1/artifacts/<sha256>"): {200: "It was here.", 201: "It is new."},
    ("PUT", "/v1/flags/<app>"): {200: "Approved.", 202: "Somebody has to review them."},
    ("PUT", "/v1/models/<app>/<name>"): {200: "Approved.", 202: "Somebody has to review it."},
    ("PUT", "/v1/policies/<app>"): {200: "Approved.", 202: "Somebody has to review it."},
    ("PUT", "/v1/reports/<report_id>"): {200: "It was here.", 201: "It is new."},
}

_FLAGS: Final[Schema] = {
    "type": "object",
    "required": ["flags"],
    "properties": {"flags": {"type": "array", "items": {"anyOf": [ref("Evaluation"), ref("OfrepFailure")]}}},
}
_ROLLOUTS: Final[Schema] = {
    "type": "object",
    "required": ["rollouts"],
    "properties": {"rollouts": {"type": "array", "items": ref("Rollout")}},
}
CONTENT_TYPES: Final[dict[Route, tuple[str, Schema]]] = {
    ("GET", "/v1/rollouts"): ("application/json", _ROLLOUTS),
    ("GET", "/v1/rollouts/<int:number>"): ("application/json", ref("Rollout")),
    ("POST", "/v1/rollouts"): ("application/json", ref("Rollout")),
    ("POST", "/v1/rollouts/<int:number>/<act>"): ("application/json", ref("Rollout")),
    ("GET", "/v1/artifacts/<sha256>"): ("application/octet-stream", {"type": "string", "format": "binary"}),
    ("GET", "/v1/exports/<app>/device_targeting_configuration.xml"): ("application/xml", {"type": "string"}),
    ("POST", "/ofrep/v1/evaluate/flags"): ("application/json", _FLAGS),
    ("POST", "/ofrep/v1/evaluate/flags/<key>"): ("application/json", ref("Evaluation")),
}

SLUG_SCHEMA: Final[Schema] = {"type": "string", "pattern": SLUG}
PATH_SCHEMAS: Final[dict[str, Schema]] = {
    "report_id": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "number": {"type": "integer", "minimum": 1, "maximum": 2_147_483_647},
    "step": {"enum": list(PERSONAL)},
    "act": {"enum": list(BY_PERSONS)},
}
"""What stands in a path, by its name; all others are slugs."""


def _asked(name: str, schema: Schema) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema}


_IF_MATCH: Final = {"name": "If-Match", "in": "header", "required": False, "schema": {"type": "string"}}
_RANGE: Final = {"name": "Range", "in": "header", "required": False, "schema": {"type": "string"}}
_IF_NONE_MATCH: Final = {"name": "If-None-Match", "in": "header", "required": False, "schema": {"type": "string"}}
PARAMETERS: Final[dict[Route, list[dict[str, Any]]]] = {
    ("GET", "/v1/artifacts/<sha256>"): [_IF_NONE_MATCH, _RANGE],
    ("GET", "/v1/decisions/<app>/<report_id>"): [_IF_NONE_MATCH],
    ("GET", "/v1/exports/<app>/device_targeting_configuration.xml"): [
        _asked("release", {"type": "integer", "minimum": 1})
    ],
    ("GET", "/v1/audit"): [_asked("after", {"type": "integer", "minimum": 0, "maximum": 2_147_483_647})],
    ("GET", "/v1/findings"): [_asked("seen", {"enum": ["now", "ever"]})],
    ("GET", "/v1/revisions"): [
        _asked("kind", {"enum": list(Kind)}),
        _asked("state", {"enum": list(State)}),
        _asked("subject", {"type": "string", "pattern": "^[A-Za-z0-9._/-]{1,257}$"}),
    ],
    ("PUT", "/v1/flags/<app>"): [_IF_MATCH],
    ("PUT", "/v1/models/<app>/<name>"): [_IF_MATCH],
    ("PUT", "/v1/policies/<app>"): [_IF_MATCH],
    ("POST", "/ofrep/v1/evaluate/flags"): [_IF_NONE_MATCH],
    ("POST", "/ofrep/v1/evaluate/flags/<key>"): [_IF_NONE_MATCH],
}
