"""OpenFeature's scenarios `evaluation_v2` as rows: which flags there are, what is asked, and what has to come back.

Facts of open-feature/spec, `specification/assets/gherkin`: see NOTICE. Titles are those of the scenarios.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

PICTURES: Final = {"showImages": True, "title": "Check out these pics!", "imagesPerPage": 100}
_BALLMER: Final = "ballmer@macrosoft.com"
_METADATA: Final = {"string": "1.0.2", "integer": 2, "boolean": True, "float": 0.1}


def _flag(default: str | None, when: str | None = None, then: str = "", **variants: Any) -> dict[str, Any]:
    rules = [{"id": "context", "when": when, "variant": then}] if when else []
    named = {name.replace("_", "-"): value for name, value in variants.items()}
    return {"variants": named, "default_variant": default, "rules": rules}


def _targeted(**variants: Any) -> dict[str, Any]:
    return _flag("zero", f"request.email == '{_BALLMER}'", "zero", **variants)


FLAGS: Final[dict[str, dict[str, Any]]] = {
    "boolean-flag": _flag("on", on=True, off=False),
    "string-flag": _flag("greeting", greeting="hi", parting="bye"),
    "integer-flag": _flag("ten", one=1, ten=10),
    "float-flag": _flag("half", tenth=0.1, half=0.5),
    "object-flag": _flag("template", empty={}, template=PICTURES),
    "boolean-zero-flag": _flag("zero", zero=False, non_zero=True),
    "string-zero-flag": _flag("zero", zero="", non_zero="str"),
    "integer-zero-flag": _flag("zero", zero=0, non_zero=1),
    "float-zero-flag": _flag("zero", zero=0.0, non_zero=1.0),
    "object-zero-flag": _flag("zero", zero={}, non_zero=PICTURES),
    "boolean-targeted-zero-flag": _targeted(zero=False, non_zero=True),
    "string-targeted-zero-flag": _targeted(zero="", non_zero="str"),
    "integer-targeted-zero-flag": _targeted(zero=0, non_zero=1),
    "float-targeted-zero-flag": _targeted(zero=0.0, non_zero=1.0),
    "object-targeted-zero-flag": _targeted(zero={}, non_zero=PICTURES),
    "boolean-disabled-flag": _flag("on", on=True, off=False) | {"disabled": True},
    "string-disabled-flag": _flag("greeting", greeting="hi", parting="bye") | {"disabled": True},
    "integer-disabled-flag": _flag("ten", one=1, ten=10) | {"disabled": True},
    "float-disabled-flag": _flag("half", tenth=0.1, half=0.5) | {"disabled": True},
    "object-disabled-flag": _flag("template", empty={}, template=PICTURES) | {"disabled": True},
    "metadata-flag": _flag("on", on=True, off=False) | {"metadata": _METADATA},
    "context-aware": _flag("external", "!request.customer", "internal", internal="INTERNAL", external="EXTERNAL"),
}


@dataclass(frozen=True)
class Row:
    """One example of a scenario. `kind` is the type asked for; what is None is not looked at."""

    scenario: str
    kind: str
    key: str
    default: Any
    context: dict[str, Any] = field(default_factory=dict)
    value: Any = None
    reason: str | None = None
    variant: str | None = None
    error: str | None = None
    metadata: dict[str, Any] | None = None
    message: str | None = None


_VALUES: Final = (
    ("Boolean", "boolean", False, True, "on"),
    ("String", "string", "bye", "hi", "greeting"),
    ("Integer", "integer", 1, 10, "ten"),
    ("Float", "float", 0.1, 0.5, "half"),
    ("Object", "object", {}, PICTURES, "template"),
)
_ZEROS: Final = (
    ("Boolean", "boolean", True, False),
    ("String", "string", "hi", ""),
    ("Integer", "integer", 1, 0),
    ("Float", "float", 0.1, 0.0),
    ("Object", "object", {"a": 1}, {}),
)
_DEFAULTS: Final = (("Boolean", False), ("String", "bye"), ("Integer", 1), ("Float", 0.1), ("Object", {"a": 1}))
_AGED: Final = {"email": _BALLMER, "role": "admin", "age": 65, "customer": False}


def _zeros(scenario: str, middle: str, reason: str, context: dict[str, Any] | None = None) -> list[Row]:
    return [
        Row(scenario, kind, f"{name}{middle}-zero-flag", default, context or {}, value, reason)
        for kind, name, default, value in _ZEROS
    ]


def _mismatches(scenario: str, *rows: tuple[str, str, Any], reason: str | None = "ERROR") -> list[Row]:
    return [
        Row(scenario, kind, key, default, value=default, reason=reason, error="TYPE_MISMATCH")
        for key, kind, default in rows
    ]


ROWS: Final = [
    *(Row("Resolve values", kind, f"{name}-flag", default, value=value) for kind, name, default, value, _ in _VALUES),
    *_zeros("Resolves zero value", "", "STATIC"),
    *_zeros("Resolves zero value with targeting", "-targeted", "TARGETING_MATCH", {"email": _BALLMER}),
    *_zeros("Resolves zero value with targeting using default", "-targeted", "DEFAULT", {"email": "ballmer@none.com"}),
    *(
        Row("Flag not found error", kind, "non-existent-flag", default, {}, default, "ERROR", error="FLAG_NOT_FOUND")
        for kind, default in _DEFAULTS
    ),
    *_mismatches(
        "Type mismatch error",
        ("boolean-flag", "String", "bye"),
        ("string-flag", "Boolean", False),
        ("string-flag", "Integer", 1),
        ("string-flag", "Object", {}),
    ),
    *(
        Row("Complete evaluation details structure", kind, f"{name}-flag", default, {}, value, "STATIC", variant)
        for kind, name, default, value, variant in _VALUES
    ),
    Row("Flag metadata in evaluation details", "Boolean", "metadata-flag", True, metadata=_METADATA),
    *_zeros("Empty evaluation context", "-targeted", "DEFAULT"),
    *_zeros("Null context values", "-targeted", "DEFAULT", {"email": None}),
    Row("Multiple context attributes targeting", "String", "context-aware", "false", _AGED, "INTERNAL", "TARGETING_MATCH"),
    Row("Structure flag evaluation", "Object", "object-flag", {}, value=PICTURES, reason="STATIC"),
    *(
        Row("Variant field population", kind, f"{name}-flag", default, variant=variant)
        for kind, name, default, _, variant in _VALUES
    ),
    Row("DISABLED reason", "Boolean", "boolean-disabled-flag", False, value=False, reason="DISABLED"),
    Row("DISABLED reason", "String", "string-disabled-flag", "bye", value="bye", reason="DISABLED"),
    Row(
        "Error message in evaluation details", "Boolean", "error-flag", False, reason="ERROR",
        message="flag error-flag not found",
    ),
    *_mismatches(
        "Default value type validation",
        ("string-flag", "Boolean", False),
        ("boolean-flag", "String", "bye"),
        ("boolean-flag", "Float", 0.1),
        reason=None,
    ),
]  # fmt: skip

NOT_THE_SERVER_S: Final = {
    "Provider not ready error": "the client answers before it asks anybody",
    "Provider in fatal state error": "the client answers before it asks anybody",
    "CACHED reason": "the Python provider keeps no answers, and the protocol has no way to ask it to",
    "Provider status accessibility": "a state of the client",
    "Evaluation options with hooks": "hooks run in the client",
    "Evaluation context immutability": "objects of the client",
    "Asynchronous flag evaluation": "a way of calling the client; the answer is that of the other scenarios",
    "Default value type validation": "its row that asks for a whole number: in Python a boolean is one, and the "
    "provider takes the true of boolean-flag for it; the other rows pass",
}
"""Scenarios, or single rows of one, that no server can make pass or fail, and why."""

SCENARIOS: Final = 23
"""How many scenarios and scenario outlines the file has."""
