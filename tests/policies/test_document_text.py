"""Policies in YAML and JSON: one meaning, and what is wrong is told with its line and column."""

from __future__ import annotations

import json
from datetime import date
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.document import PolicyDocument, parse_document
from policies.document_text import faults_in, parse_document_text
from policies.errors import BodyTooDeep, BodyTooLarge, ConditionError, InvalidField, InvalidInput, MalformedYaml

YAML, JSON = "application/yaml", "application/json"


def read(text: str, media_type: str = YAML) -> PolicyDocument:
    return parse_document_text(dedent(text).encode(), media_type=media_type)


def wrong(text: str, media_type: str = YAML) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        read(text, media_type)
    return caught.value


POLICY = """
    app: camera
    exploration_bp: 200
    thresholds: {lead_coverage: 0.9}
    rules:
      - id: tensor
        when: >-
          device.soc == "tensor-g4"
          && device.api_level >= 34
        use: {ladder: ["*.nnapi.*", "*.gpu"]}
      - {id: rest, when: "true", use: learned}
    denies:
      - id: old
        arms: ["*.gpu"]
        reason: no
        until: 2026-05-01
"""


def test_yaml_and_json_say_the_same() -> None:
    document = read(POLICY)
    assert document.rules[0].when == 'device.soc == "tensor-g4" && device.api_level >= 34'
    assert document.denies[0].until == date(2026, 5, 1)
    assert read(document.model_dump_json(by_alias=True), JSON) == document
    assert read(document.model_dump_json(by_alias=True), YAML) == document


@pytest.mark.parametrize(
    ("plain", "means"), [("no", "no"), ("1:30", "1:30"), ("0x10", "0x10"), ("2026-05-01", "2026-05-01")]
)
def test_a_plain_text_is_no_date_no_clock_and_no_denial(plain: str, means: str) -> None:
    assert read(f"app: camera\ndenies: [{{id: d, arms: ['*'], reason: {plain}}}]").denies[0].reason == means


@pytest.mark.parametrize(
    ("text", "media_type", "place"),
    [
        ("app: camera\nrules:\n- id: a\n  when: device.sco == 'x'\n  use: learned\n", YAML, (4, 16)),
        ("app: camera\nrules:\n- id: a\n  when: 'device.model == ''y'' && device.sco == ''x'''\n  use: learned\n", YAML, (4, 42)),
        ("app: camera\nrules:\n- id: a\n  when: |\n    true &&\n      device.sco == 'x'\n  use: learned\n", YAML, (6, 14)),
        ("app: camera\nrules:\n- id: a\n  when: >\n    true &&\n    device.sco == 'x'\n  use: learned\n", YAML, (4, 9)),
        ('{"app": "camera",\n "rules": [{"id": "a", "use": "learned",\n  "when": "device.model == \\"y\\" && device.sco == 1"}]}', JSON, (3, 44)),
    ],
)  # fmt: skip
def test_a_fault_in_a_condition_is_placed_in_the_document(text: str, media_type: str, place: tuple[int, int]) -> None:
    fault = wrong(text, media_type)
    assert isinstance(fault, ConditionError)
    assert (fault.line, fault.column) == place
    assert (fault.field, fault.nearest) == ("rules.0.when", "soc")
    assert fault.detail.startswith(f"line {place[0]}, column {place[1]}: rules.0.when: `sco` is not known")


@pytest.mark.parametrize("media_type", [YAML, JSON])
@pytest.mark.parametrize(
    ("text", "place", "field", "nearest"),
    [
        ('{"app": "camera",\n "exploration": 3}', (2, 2), "exploration", "exploration_bp"),
        ('{"app": "camera",\n "exploration_bp": "x"}', (2, 2), "exploration_bp", None),
        ('{"app": "camera", "denies": [\n {"id": "d", "arms": ["*"]}]}', (2, 2), "denies.0.reason", None),
        (
            '{"app": "camera", "rules": [{"id": "a", "when": "true",\n "use": "lernt"}]}',
            (2, 2),
            "rules.0.use",
            "learned",
        ),
        ('{"app": "camera", "denies": [{"id": "d", "reason": "r", "arms": [\n""]}]}', (2, 1), "denies.0.arms.0", None),
        (
            '{"app": "camera", "denies": [{"id": "d", "reason": "r", "arms": [\n"*.nnap.*"]}]}',
            (2, 1),
            "denies.0.arms.0",
            "nnapi",
        ),
        (
            '{"app": "camera", "rules": [{"id": "a", "when": "true", "use": {"ladder": [\n"int9.*"]}}]}',
            (2, 1),
            "rules.0.use.ladder.0",
            "int8",
        ),
        (
            '{"app": "camera", "rules": [{"id": "a", "when": "true", "use": {"split": [{"weight_bp": 10000, "ladder": ["*",\n"x.y"]}]}}]}',
            (2, 1),
            "rules.0.use.split.0.ladder.1",
            None,
        ),
    ],
)
def test_a_wrong_field_is_placed_where_it_is_stated(
    media_type: str, text: str, place: tuple[int, int], field: str, nearest: str | None
) -> None:
    fault = wrong(text, media_type)
    assert isinstance(fault, InvalidField)
    assert ((fault.line, fault.column), fault.field, fault.nearest) == (place, field, nearest)


@pytest.mark.parametrize(
    "glob",
    [
        "*",
        "*.gpu",
        "int8.*",
        "fp16.tflite.gpu",
        "*.*.nnapi.*",
        "int8.*.nnapi.a-driver-of-tomorrow",
        "*pu",
        "int?.*.qnn",
    ],
)
def test_a_glob_that_some_arm_could_match_is_taken(glob: str) -> None:
    document = read(json.dumps({"app": "camera", "denies": [{"id": "d", "reason": "r", "arms": [glob]}]}), JSON)
    assert document.denies[0].arms == (glob,)


def test_a_key_that_stands_twice_is_refused_with_its_place() -> None:
    text = '{"app": "camera",\n "app": "gallery"}'
    for media_type, code in ((YAML, "malformed-yaml"), (JSON, "malformed-json")):
        fault = wrong(text, media_type)
        assert (fault.code, fault.line, fault.column) == (code, 2, 2)


@pytest.mark.parametrize(
    "text",
    [
        "app: &name camera",
        "app: camera\nx: *name",
        "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]",
        "app: !!python/object/apply:os.system [ls]",
        "app: camera\n---\napp: gallery",
        "? [a]\n: b",
        "<<: {app: camera}\n<<: {app: b}",
        "app: [",
        "app: 'a",
        "app: \a",
        "app: \"\\0\"",
        "exploration_bp: 1e999",
        "",
        "# nothing",
    ],
)  # fmt: skip
def test_what_could_be_misread_is_refused(text: str) -> None:
    assert isinstance(wrong(text), MalformedYaml)


def test_what_is_too_deep_or_too_large_is_refused() -> None:
    assert isinstance(wrong("x: " + "[" * 20 + "]" * 20), BodyTooDeep)
    assert isinstance(wrong("# " + "x" * 2_100_000), BodyTooLarge)
    assert isinstance(wrong("[" * 5_000), InvalidInput)


def outcome(body: bytes, media_type: str) -> PolicyDocument | InvalidInput:
    try:
        return parse_document_text(body, media_type=media_type)
    except InvalidInput as fault:
        return fault


@given(st.text(max_size=60) | st.text(alphabet="{}[]:,-'\"&*!|>#\n ab1", max_size=60))
def test_any_text_is_a_document_or_refused(text: str) -> None:
    for media_type in (YAML, JSON):
        found = outcome(text.encode(errors="surrogatepass"), media_type)
        assert isinstance(found, PolicyDocument) or (found.line is None) is (found.column is None)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufeff\ufffe\uffff\x85"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(VALUES)
def test_json_is_read_the_same_way_as_yaml(value: Any) -> None:
    document = {"app": "camera", "telemetry": {"sample": value}}
    as_yaml, as_json = (outcome(json.dumps(document, ensure_ascii=False).encode(), kind) for kind in (YAML, JSON))
    if isinstance(as_json, InvalidInput):
        assert isinstance(as_yaml, InvalidInput)
        assert (as_yaml.code, as_yaml.field, as_yaml.line) == (as_json.code, as_json.field, as_json.line)
    else:
        assert as_yaml == as_json


def test_json_that_yaml_cannot_read_is_refused_without_a_place() -> None:
    fault = wrong('{"app": "camera", "denies": [{"id": "d", "arms": ["*"], "reason": "\\ud83d\\ude00", "x": 1}]}', JSON)
    assert (fault.field, fault.line) == ("denies.0.x", None)


def test_what_is_no_utf_8_is_refused() -> None:
    with pytest.raises(MalformedYaml, match="UTF-8"):
        parse_document_text(b"app: \xff", media_type=YAML)


def test_a_document_written_as_json_is_the_parsed_value() -> None:
    raw = {"app": "camera", "ladder_rungs": 3}
    assert read(json.dumps(raw), JSON) == parse_document(raw)


def test_everything_that_is_wrong_is_told_by_line() -> None:
    text = "app: camera\nladder_rungs: 99\nrules:\n- id: r\n  when: devise.soc == 'x'\n  use: lerned\nexploration: 3\n"
    found = faults_in(text)
    assert [(fault.line, fault.field) for fault in found] == [(7, "exploration")]
    found = faults_in(text.replace("exploration: 3\n", ""))
    assert [(fault.line, fault.field) for fault in found] == [
        (2, "ladder_rungs"), (5, "rules.0.when"), (6, "rules.0.use"),
    ]  # fmt: skip


@given(st.text(max_size=60) | st.text(alphabet="{}[]:,-'\"&*!|>#\n ab1", max_size=60))
def test_a_text_has_faults_exactly_where_it_is_refused(text: str) -> None:
    found = outcome(text.encode(errors="surrogatepass"), YAML)
    try:
        faults = faults_in(text)
    except UnicodeEncodeError:  # half of a surrogate pair: no form of a browser holds one
        return
    assert bool(faults) is isinstance(found, InvalidInput)


@pytest.mark.parametrize(
    "text", ["app: camera\n", "- a\n", "app: [\n", "app: camera\ndenies: [{id: q, arms: [x.y], reason: r}]\n"]
)
def test_the_first_fault_is_the_one_that_refuses(text: str) -> None:
    found, faults = outcome(text.encode(), YAML), faults_in(text)
    if isinstance(found, InvalidInput):
        assert (faults[0].detail, faults[0].line) == (found.detail, found.line)
    else:
        assert faults == []
