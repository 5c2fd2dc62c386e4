"""Pydantic's complaints as our own errors, and the base of what operators state."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError, model_validator
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

from policies.errors import ConditionError, InvalidField
from policies.literal_values import literally
from policies.nearest import did_you_mean, nearest

M = TypeVar("M", bound=BaseModel)

CONDITION: Final = "invalid-condition"
"""Type of the complaint about a condition; its context holds `line`, `column`, `expected` and `nearest`."""

_UNKNOWN_FIELD: Final = "unknown-field"
_SHAPES: Final = {
    "a list": ("tuple_type", "list_type", "set_type", "frozen_set_type"),
    "an object with names": ("model_type", "model_attributes_type", "dict_type", "mapping_type"),
    "a text": ("string_type",),
    "a whole number": ("int_type", "int_parsing", "int_from_float"),
    "a number": ("float_type", "float_parsing"),
    "true or false": ("bool_type", "bool_parsing"),
}
"""Pydantic speaks of Python's types; who writes JSON or YAML knows these."""
_SHAPE_OF: Final = {kind: shape for shape, kinds in _SHAPES.items() for kind in kinds}
_FOUND: Final = ((bool, "true or false"), (str, "a text"), (Mapping, "an object with names"), (Sequence, "a list"))
_BOUNDS: Final = ("le", "ge", "lt", "gt", "max_length", "min_length")


class Stated(BaseModel):
    """What an operator writes: a key that nobody knows is a typo, and the nearest known one is named; `"1"` is no number."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: CoreSchema = literally(handler(source), cls)
        return schema

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, raw: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key in raw if isinstance(raw, Mapping) else ():
            if key not in known:
                close = nearest(str(key), known)
                context: dict[str, Any] = {"key": str(key), "expected": "one of " + ", ".join(known), "nearest": close}
                context["hint"] = did_you_mean(close)
                raise PydanticCustomError(_UNKNOWN_FIELD, "nothing of this name is known here{hint}", context)
        return raw


def validated(kind: type[M], raw: Any) -> M:
    """`raw` as a `kind`; raises InvalidField naming the first field that is wrong and the limit it broke.

    Raises ConditionError, with line and column, for a condition that the policy language does not take.
    """
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _complaint(kind, first, raw) from error


def complaints(kind: type[BaseModel], raw: Any) -> list[InvalidField | ConditionError]:
    """Everything that keeps `raw` from being a `kind`, in pydantic's order; empty where nothing does."""
    try:
        kind.model_validate(raw)
    except ValidationError as error:
        return [_complaint(kind, one, raw) for one in error.errors(include_url=False)]
    return []


def _complaint(kind: type[BaseModel], first: ErrorDetails, raw: Any) -> InvalidField | ConditionError:
    context = first.get("ctx", {})
    names = _names(first, raw)
    if first["type"] == _UNKNOWN_FIELD:
        names.append(context["key"])
    path = ".".join(names) or kind.__name__
    if first["type"] == CONDITION:
        places = {name: context[name] for name in ("line", "column", "expected", "nearest")}
        return ConditionError(f"{path}: {first['msg']}", field=path, **places)
    limit = next((context[name] for name in _BOUNDS if name in context), None)
    expected, close = _expected(first)
    detail = f"{path}: {_said(first)}" + ("" if first["type"] == _UNKNOWN_FIELD else did_you_mean(close))
    return InvalidField(detail, field=path, limit=limit, expected=expected, nearest=close)


def _said(first: ErrorDetails) -> str:
    """What is wrong, in words of what was written."""
    shape = _SHAPE_OF.get(first["type"])
    if shape is None:
        return first["msg"].removeprefix("Input ").removeprefix("Value error, ")
    value = first["input"]
    found = "nothing" if value is None else next((name for kind, name in _FOUND if isinstance(value, kind)), str(value))
    return f"{shape} belongs here, not {found}"


def _names(first: ErrorDetails, raw: Any) -> list[str]:
    """The place in the input: without the words that pydantic puts in where one of several shapes was meant."""
    names: list[str] = []
    for part in first["loc"]:
        if _has(raw, part):
            names.append(str(part))
            raw = raw[part]
    return [*names, str(first["loc"][-1])] if first["type"] == "missing" else names


def _has(raw: Any, part: int | str) -> bool:
    if isinstance(raw, Mapping):
        return part in raw
    return isinstance(raw, Sequence) and isinstance(part, int) and part < len(raw)


def _expected(first: ErrorDetails) -> tuple[str | None, str | None]:
    """What could stand there, and the nearest of it, where it is one of a few words."""
    context = first.get("ctx", {})
    expected = context.get("expected")
    if not isinstance(expected, str) or first["type"] == _UNKNOWN_FIELD:
        return expected, context.get("nearest")
    return expected, nearest(str(first["input"]), re.findall(r"'([^']*)'", expected))
