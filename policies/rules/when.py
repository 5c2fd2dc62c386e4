"""Conditions as fields of what an operator states."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from policies.errors import ConditionError
from policies.language import DEVICE_VOCABULARY, Condition, Vocabulary, compile_condition
from policies.validation import CONDITION

_FIELD: Final = "when"


def checked(text: str, vocabulary: Vocabulary = DEVICE_VOCABULARY) -> str:
    """The text, where it is a condition over these names; a complaint for pydantic where it is not."""
    try:
        compile_condition(text, vocabulary, field=_FIELD)
    except ConditionError as error:
        places = {"line": error.line, "column": error.column, "expected": error.expected, "nearest": error.nearest}
        # The detail goes in as a value: pydantic would read its braces as places to fill.
        detail = error.reason.removeprefix(f"{_FIELD}: ")
        raise PydanticCustomError(CONDITION, "{detail}", {"detail": detail, **places}) from error
    return text


When = Annotated[str, AfterValidator(checked)]
"""A condition in the policy language, refused where it does not compile."""


def condition(when: str) -> Condition:
    """The condition ready to be asked."""
    return compile_condition(when, field=_FIELD)
