"""Pydantic's complaints as our own errors."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from policies.errors import InvalidField

M = TypeVar("M", bound=BaseModel)

_BOUNDS = ("le", "ge", "lt", "gt", "max_length", "min_length")


def validated(kind: type[M], raw: Any) -> M:
    """`raw` as a `kind`; raises InvalidField naming the first field that is wrong and the limit it broke."""
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(part) for part in first["loc"]) or kind.__name__
        bounds = first.get("ctx", {})
        limit = next((bounds[name] for name in _BOUNDS if name in bounds), None)
        raise InvalidField(f"{path}: {first['msg']}", field=path, limit=limit) from error
