"""What an operator writes is taken as it is written: no text or truth value for a number, no number for a truth value or a day.

Pydantic alone would read `true` as 1, `"1"` as 1, 0 as false and 86400 as the second of January 1970. A whole number may
be written `1.0`: JSON has only one kind of number. Its strict mode is no help: that takes lists for no tuples, texts for
no days.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from pydantic_core import PydanticCustomError, PydanticKnownError
from pydantic_core.core_schema import no_info_before_validator_function

NOT_A_DAY: Final = "not-a-day"
"""Type of the complaint about something that is no day."""
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def _whole_number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise PydanticKnownError("int_type")
    return value


def _number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise PydanticKnownError("float_type")
    return value


def _truth_value(value: Any) -> Any:
    if not isinstance(value, bool):
        raise PydanticKnownError("bool_type")
    return value


def _day(value: Any) -> Any:
    if not (isinstance(value, date) or (isinstance(value, str) and _DAY.fullmatch(value))):
        raise PydanticCustomError(NOT_A_DAY, "a day belongs here, as 2026-05-31")
    return value


_CHECKS: Final[dict[str, Callable[[Any], Any]]] = {
    "int": _whole_number,
    "float": _number,
    "bool": _truth_value,
    "date": _day,
}


def literally(schema: Any, model: type) -> Any:
    """The schema of a model, with a check before each number, truth value and day of its own fields.

    Other models in it see to their fields themselves, and a union takes the kind that was written.
    """
    if isinstance(schema, list):
        return [literally(part, model) for part in schema]
    if not isinstance(schema, Mapping) or schema.get("type") == "union" or schema.get("cls", model) is not model:
        return schema
    check = _check_of(schema)
    if check is not None:
        core: Any = schema
        return no_info_before_validator_function(check, core)
    return {name: part if name in {"default", "metadata"} else literally(part, model) for name, part in schema.items()}


def _check_of(schema: Mapping[str, Any]) -> Callable[[Any], Any] | None:
    if schema.get("type") == "literal" and any(isinstance(known, int) for known in schema["expected"]):
        return _whole_number
    return _CHECKS.get(str(schema.get("type")))
