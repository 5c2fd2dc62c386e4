"""One rule for all that operators state: a number is written as a number, a truth value as one, a day as one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

import policies
from policies.document import PolicyDocument
from policies.errors import InvalidField
from policies.rollouts.rollout import parse_rollout_plan
from policies.rules.settings import RunOptions
from policies.validation import Stated, validated

WRONG: dict[str, tuple[Any, ...]] = {
    "integer": (True, "1", 1.5),
    "number": (True, "1", "1.5"),
    "boolean": (1, 0, "true", "yes"),
    "date": (86_400, "86400", True, "2027-01-01T00:00:00", "20270101"),
}


def _models(kind: type[Stated] = Stated) -> Iterator[type[Stated]]:
    for child in kind.__subclasses__():
        yield child
        yield from _models(child)


def _load_everything() -> None:
    for module in pkgutil.walk_packages(policies.__path__, "policies."):
        importlib.import_module(module.name)


def _fields() -> Iterator[tuple[type[Stated], str, str]]:
    """(model, field, kind) of every field that is a number, a truth value or a day, or none."""
    _load_everything()
    for model in sorted(set(_models()), key=lambda model: f"{model.__module__}.{model.__name__}"):
        for name, schema in model.model_json_schema()["properties"].items():
            kinds = {shape.get("format", shape.get("type")) for shape in (schema, *schema.get("anyOf", ()))}
            yield from ((model, name, kind) for kind in sorted(kinds & WRONG.keys() - {None}))


FIELDS = list(_fields())


def test_the_fields_are_found() -> None:
    assert {kind for _, _, kind in FIELDS} == WRONG.keys()
    assert len(FIELDS) > 30


@pytest.mark.parametrize(
    ("model", "name", "kind"), FIELDS, ids=[f"{model.__name__}.{name}" for model, name, _ in FIELDS]
)
def test_what_is_written_as_another_kind_is_refused(model: type[Stated], name: str, kind: str) -> None:
    for wrong in WRONG[kind]:
        with pytest.raises(ValidationError) as raised:
            model.model_validate({name: wrong})
        assert name in {error["loc"][0] for error in raised.value.errors() if error["loc"]}, wrong


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"exploration_bp": True}, "exploration_bp: a whole number belongs here, not true or false"),
        ({"exploration_bp": "200"}, "exploration_bp: a whole number belongs here, not a text"),
        ({"telemetry": {"sample": "0.5"}}, "telemetry.sample: a number belongs here, not a text"),
        ({"schema": True}, "schema: a whole number belongs here, not true or false"),
    ],
    ids=str,
)
def test_the_field_is_named_and_what_belongs_there(stated: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidField) as raised:
        validated(PolicyDocument, {"schema": 1, "app": "camera"} | stated)
    assert raised.value.detail == words


def test_lists_are_looked_into() -> None:
    with pytest.raises(InvalidField, match=r"steps\.0\.share_bp"):
        parse_rollout_plan({"steps": [{"share_bp": True, "min_minutes": 1}]})


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert RunOptions.model_validate({"threads": 2.0}).threads == 2
