"""The README of the policy language is held to the code: names, functions, limits, and every example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from builders import make_fingerprint, make_model

from policies.arm import executable_arms
from policies.arm_coverage import arm_coverage
from policies.decide import decide_model
from policies.document import PolicyDocument
from policies.document_text import parse_document_text
from policies.facts import arm_roots, device_roots, model_roots
from policies.knowledge import Knowledge, RankedArm, Ranking
from policies.language import DEVICE_VOCABULARY, Context, compile_condition
from policies.language.check import MAX_QUANTIFIERS, QUANTIFIERS
from policies.language.functions import MAX_MATCHED_LENGTH, MAX_PATTERN_BYTES, MAX_PATTERN_LENGTH, METHODS, PLAIN
from policies.language.kinds import Kind, ListOf, Record
from policies.language.syntax import _BINDING, MAX_DEPTH, MAX_LENGTH, MAX_TOKENS
from policies.language.versions import MAX_BOUNDS, MAX_VERSION_LENGTH
from policies.rules import rule
from policies.rules.settings import RunOptions
from policies.settings_of_arm import BESIDE_OPTIONS
from policies.vocabulary import Workload
from tests.docs.markdown import code_blocks, rows, section, text

README = text("policies/catalog/README.md")
POLICY, FACTS = code_blocks(README, "yaml")
BAR = "\\|"


def names(path: str, kind: Kind) -> Iterator[tuple[str, str]]:
    """(name, kind) of every fact below."""
    if isinstance(kind, Record):
        for field, inner in kind.fields.items():
            yield from names(f"{path}.{field}", inner)
    elif isinstance(kind, ListOf) and isinstance(kind.item, Record):
        yield from names(f"{path}[]", kind.item)
    else:
        yield path, kind.name


NAMES = {path: kind for root, kind in DEVICE_VOCABULARY.roots.items() for path, kind in names(root, kind)}


def test_every_name_is_documented_with_its_kind_and_no_other() -> None:
    stated = [
        (re.compile(re.escape(name).replace(r"\*", ".*")), kind) for name, kind, _ in rows(section(README, "Names"))
    ]
    for path, kind in (NAMES | {"request.app_version": "anything"}).items():
        if path != "request":
            kinds = [stated_kind for pattern, stated_kind in stated if pattern.fullmatch(path)]
            assert kinds in ([kind], ["as above"], [""]), path
    for pattern, _ in stated:
        assert any(pattern.fullmatch(path) for path in [*NAMES, "request.app_version"]), pattern.pattern


def test_every_word_that_a_name_can_have_is_one_of_the_codes() -> None:
    for name, _, what in rows(section(README, "Names")):
        kind = kind_of(name)
        if what.split(",")[0] in getattr(kind, "words", ()):
            assert {word for word in what.split(", ") if word != "…"} <= set(kind.words), name


def test_every_setting_is_documented_and_those_that_void_no_cache_come_last() -> None:
    stated = [name for name, _ in rows(section(README, "What decides"))]
    assert sorted(stated) == sorted(RunOptions.model_fields)
    assert set(stated[-len(BESIDE_OPTIONS) :]) == BESIDE_OPTIONS


def kind_of(name: str) -> Any:
    kind: Any = Record("all", DEVICE_VOCABULARY.roots)
    for part in name.replace("[]", "").split("."):
        fields = getattr(kind.item if isinstance(kind, ListOf) else kind, "fields", {})
        if part not in fields:
            return None
        kind = fields[part]
    return kind


def test_every_function_is_documented_with_what_it_takes() -> None:
    stated = {name for name, _ in rows(section(README, "Functions"))}
    of = {"a text": "text", "a list or a text": "list", "an accelerator": "accelerator"}
    methods = {f"{of[f.of or '']}.{f.name}({', '.join(p.name for p in f.parameters)})" for f in METHODS.values()}
    plain = {f"{f.name}({', '.join(p.name for p in f.parameters)})" for f in PLAIN.values()}
    quantifiers = {f"list.{name}(a, condition)" for name in QUANTIFIERS}
    assert stated == methods | plain | quantifiers | {"has(fact)"}


def test_every_operator_is_documented() -> None:
    stated = {sign for row in rows(section(README, "Operators")) for sign in row[0].replace(BAR, "|").split()}
    assert _BINDING.keys() | {"!"} <= stated


def test_every_limit_is_the_one_in_force() -> None:
    most = {name: field.metadata for name, field in PolicyDocument.model_fields.items()}
    assert {what: int(limit) for what, limit in rows(section(README, "Limits"))} == {
        "characters of a condition": MAX_LENGTH,
        "words and signs": MAX_TOKENS,
        "levels of nesting": MAX_DEPTH,
        "quantifiers, none inside another": MAX_QUANTIFIERS,
        "characters of a pattern": MAX_PATTERN_LENGTH,
        "bytes of a compiled pattern": MAX_PATTERN_BYTES,
        "characters of a text that a pattern is matched against": MAX_MATCHED_LENGTH,
        "bounds of a version range": MAX_BOUNDS,
        "characters of a version or range": MAX_VERSION_LENGTH,
        "rules of a policy": most["rules"][0].max_length,
        "denies of a policy": most["denies"][0].max_length,
        "settings of a policy": most["settings"][0].max_length,
        "splits of a rule": rule.MAX_SPLITS,
    }


def condition(cell: str) -> str:
    return cell.replace(BAR, "|")


@pytest.mark.parametrize(
    ("written", "answer"), rows(section(README, "Examples").partition("```\n")[2].split("```")[-1])
)
def test_every_example_is_answered_as_stated(written: str, answer: str) -> None:
    outcome = compile_condition(condition(written), field="README").evaluate(Context(yaml.safe_load(FACTS)))
    words = {True: "holds", False: "fails", None: f"unknown: {', '.join(outcome.unknown)}"}
    assert words[outcome.holds] == answer


LISTS = rows(section(README, "What other lists state"))


@pytest.mark.parametrize(("kind", "known_from", "written"), LISTS)
def test_every_kind_of_public_list_can_be_stated(kind: str, known_from: str, written: str) -> None:
    outcome = compile_condition(condition(written), field=kind).evaluate(Context(yaml.safe_load(FACTS)))
    assert outcome.holds is (None if "supports(" in written else True)


def test_thirteen_kinds_are_stated() -> None:
    assert len(LISTS) == 13


def test_the_policy_in_the_readme_is_one_and_decides() -> None:
    document = parse_document_text(POLICY.encode(), media_type="application/yaml")
    decided = decide_model(make_fingerprint(), document, make_model(), Knowledge())
    assert [plan.by for plan in decided.plans] == ["try-the-new-driver"]
    assert [tried.id for tried in decided.denies] == ["slow-where-cut"]


def test_what_conditions_are_asked_about_are_the_names_that_the_vocabulary_has() -> None:
    phone, model = make_fingerprint(), make_model()
    arm = next(arm for arm in executable_arms(phone, model) if arm.accelerator)
    ranking = Ranking((RankedArm(arm.id, 4.0, 0.1, 9),), ())
    knowledge = Knowledge({model.name: dict.fromkeys(Workload, ranking)})
    given = device_roots(phone) | model_roots(model, knowledge) | arm_roots(arm, arm_coverage(arm), phone)
    for root, kind in DEVICE_VOCABULARY.roots.items():
        if root != "request":
            assert fits(given[root], kind), root


def fits(value: Any, kind: Kind) -> bool:
    if isinstance(kind, ListOf):
        return all(fits(item, kind.item) for item in value)
    if isinstance(kind, Record) and kind.name not in {"device.runtimes", "device.hints"}:
        return {name for name in value if name != "#"} == set(kind.fields) and all(
            fits(value[name], inner) for name, inner in kind.fields.items()
        )
    types = {"a text": str, "an integer": int, "a yes or no": bool, "a number": (int, float)}
    return value is None or isinstance(value, types.get(kind.name, dict))
