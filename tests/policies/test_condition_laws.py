"""Laws of the policy language: any text is answered or refused, and what is unknown decides nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from policies.errors import ConditionError
from policies.language import Condition, Context, compile_condition
from policies.language.check import MAX_QUANTIFIERS

FACTS: dict[str, Any] = {
    "device": {"soc": "tensor-g4", "api_level": 34, "ram_gb": 8, "abis": ["arm64-v8a"], "shared_buffers": True},
    "accelerators": [{"name": "google-edgetpu", "level": 7, "driver_version": "2.0"}, {"name": "mtk-dsp", "level": 4}],
    "gpu": {"family": "mali-g715", "vulkan": "1.3.204"},
    "request": {"plan": "pro", "age_days": 3},
}

WORDS = [
    "device", "accelerators", "gpu", "request", "soc", "api_level", "exists", "all", "has", "matches", "dotted", "supports",
    "true", "in", "null", "a", "x", ".", ",", "(", ")", "[", "]", "!", "-", "&&", "||", "==", "<=", ">", "+", "?", ":", "/",
    '"', "'", '"tensor-g4"', '"(a+)+b"', '">= 1.2"', "1", "2.5", "1e9", "99999999999999999999", "//", "\n", " ", "\\", "é", "\x00",
]  # fmt: skip


def compiled(text: str) -> Condition | ConditionError:
    try:
        return compile_condition(text, field="when")
    except ConditionError as fault:
        return fault


@given(st.text(max_size=80) | st.lists(st.sampled_from(WORDS), max_size=40).map("".join))
@example("device.model.matches('" + "(" * 100 + "')")
@example("\ud800 == '\ud800'")
@example("'\\ud800' == device.soc")
def test_any_text_is_answered_or_refused_with_a_place(text: str) -> None:
    found = compiled(text)
    if isinstance(found, Condition):
        assert found.evaluate(Context(FACTS)).holds in {True, False, None}
    else:
        assert (found.line or 0) >= 1
        assert (found.column or 0) >= 1


@given(st.sampled_from("([!"), st.integers(1, 2_100))
def test_depth_is_refused_and_never_reaches_the_stack(sign: str, depth: int) -> None:
    assert isinstance(compiled(sign * depth + "true"), ConditionError) or (sign == "!" and depth < 20)


ATOMS = st.sampled_from(
    [
        'device.soc == "tensor-g4"',
        'device.soc in ["exynos-2400"]',
        "device.api_level >= 31",
        "device.ram_gb < 6",
        '"arm64-v8a" in device.abis',
        "device.shared_buffers",
        "accelerators.exists(a, a.level >= 7)",
        "accelerators.all(a, a.level >= 5)",
        'accelerators.exists(a, dotted(a.driver_version, ">= 1.9"))',
        'dotted(gpu.vulkan, "< 1.2")',
        'gpu.family.startsWith("mali")',
        'gpu.family.matches("^adreno-7[0-9]{2}$")',
        'request.plan == "pro"',
        "request.age_days < 30",
        'supports("CONV_2D", "TENSOR_FLOAT32")',
        "true",
    ]
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: (
        inner.map("!({})".format)
        | st.tuples(inner, inner).map(lambda pair: f"({pair[0]}) && ({pair[1]})")
        | st.tuples(inner, inner).map(lambda pair: f"({pair[0]}) || ({pair[1]})")
    ),
    max_leaves=5,
).filter(lambda text: text.count("(a, ") <= MAX_QUANTIFIERS // 2)
"""Two of them side by side are a condition, too."""
HIDDEN = st.sets(st.tuples(st.sampled_from(["device", "gpu", "request", "accelerators"]), st.integers(0, 4)))


def without(hidden: set[tuple[str, int]]) -> dict[str, Any]:
    """The facts, some of them hidden: by root, and place within it."""
    kept: dict[str, Any] = {}
    for root, facts in FACTS.items():
        gone = {place for of, place in hidden if of == root}
        parts = facts if isinstance(facts, list) else [facts]
        shown = [
            {name: value for at, (name, value) in enumerate(part.items()) if name == "name" or at not in gone}
            for part in parts
        ]
        kept[root] = shown if isinstance(facts, list) else shown[0]
    return kept


def ask(text: str, facts: dict[str, Any]) -> bool | None:
    return compile_condition(text, field="when").evaluate(Context(facts)).holds


@given(CONDITIONS, HIDDEN)
def test_a_negation_is_the_other_answer_and_unknown_stays_unknown(text: str, hidden: set[tuple[str, int]]) -> None:
    answer = ask(text, without(hidden))
    assert ask(f"!({text})", without(hidden)) is (None if answer is None else not answer)


@given(CONDITIONS, HIDDEN)
def test_what_is_learned_later_overturns_no_answer(text: str, hidden: set[tuple[str, int]]) -> None:
    answer = ask(text, without(hidden))
    assert answer is None or answer is ask(text, FACTS)


@given(CONDITIONS, CONDITIONS, HIDDEN)
def test_and_and_or_are_de_morgan_also_for_the_unknown(one: str, other: str, hidden: set[tuple[str, int]]) -> None:
    facts = without(hidden)
    assert ask(f"!(({one}) && ({other}))", facts) is ask(f"!({one}) || !({other})", facts)


@given(CONDITIONS, HIDDEN)
def test_an_unknown_answer_names_what_was_unknown(text: str, hidden: set[tuple[str, int]]) -> None:
    outcome = compile_condition(text, field="when").evaluate(Context(without(hidden)))
    assert (outcome.holds is None) is bool(outcome.unknown)
