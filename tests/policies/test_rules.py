"""Rules and denies of a policy: who chooses, who is taken away, what is unknown, and that all of it is told (R-C4, R-C5)."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from builders import EDGETPU, deny, make_document, make_fingerprint, make_model, make_variant, nnapi
from hypothesis import given
from hypothesis import strategies as st

from policies.decide import ModelDecision, decide, decide_model
from policies.document import parse_document
from policies.errors import ConditionError, InvalidField
from policies.fingerprint import Fingerprint
from policies.knowledge import ArmShare, Knowledge, RankedArm, Ranking
from policies.plans import Rule, Split
from policies.rules.tried import Fate
from policies.vocabulary import Workload
from policies.wire import to_wire

NPU, GPU, CPU = "int8.tflite.nnapi.google-edgetpu", "fp32.tflite.gpu", "int8.tflite.cpu"
PHONE = make_fingerprint()
ISSUED = datetime(2026, 5, 1, tzinfo=UTC)
LEARNED = Ranking((RankedArm(GPU, 3.0, 0.1, 40),), (ArmShare(GPU, 10_000),))


def rule(name: str, when: str, use: Any, **changes: Any) -> dict[str, Any]:
    return {"id": name, "when": when, "use": use} | changes


def decided(
    *rules: dict[str, Any],
    phone: Fingerprint = PHONE,
    ranking: Ranking | None = None,
    denies: tuple[dict[str, Any], ...] = (),
    request: dict[str, Any] | None = None,
    **model: Any,
) -> ModelDecision:
    document = make_document(rules=list(rules), denies=list(denies))
    knowledge = Knowledge({"segmentation": dict.fromkeys(Workload, ranking)} if ranking else {})
    return decide_model(phone, document, make_model(**model), knowledge, request or {})


def ladder(decision: ModelDecision) -> tuple[str, ...]:
    return decision.plans[0].splits[0].ladder


def fates(decision: ModelDecision) -> dict[str, Fate]:
    return {tried.id: tried.fate for tried in decision.rules}


# What chooses.


def test_the_first_rule_that_holds_chooses_and_the_later_ones_are_not_asked() -> None:
    decision = decided(
        rule("old", "device.api_level < 30", {"ladder": ["*.cpu"]}),
        rule("tensor", 'device.soc == "tensor-g4"', {"ladder": ["*.gpu", "*.nnapi.*"]}),
        rule("all", "true", {"ladder": ["*.cpu"]}),
    )
    assert ladder(decision) == (GPU, NPU, CPU)
    assert (decision.plans[0].rule, decision.plans[0].by) == (Rule.STATED, "tensor")
    assert fates(decision) == {"old": Fate.NOT_MATCHED, "tensor": Fate.CHOSE}


def test_a_rule_hands_over_to_what_was_learned_or_to_the_out_of_the_box_rule() -> None:
    first = decided(rule("trust", "true", "learned"), ranking=LEARNED)
    assert (ladder(first)[0], first.plans[0].rule, first.plans[0].by) == (GPU, Rule.LEARNED, "trust")
    second = decided(rule("doubt", "true", "out-of-the-box"), ranking=LEARNED)
    assert (ladder(second)[0], second.plans[0].rule, second.plans[0].by) == (NPU, Rule.OUT_OF_THE_BOX, "doubt")


def test_a_rule_that_cannot_choose_is_passed_over() -> None:
    decision = decided(
        rule("trust", "true", "learned"),
        rule("qnn", "true", {"ladder": ["*.qnn"]}),
        rule("gpu", "true", {"ladder": ["*.gpu"]}),
    )
    assert ladder(decision) == (GPU, CPU)
    assert fates(decision) == {"trust": Fate.PASSED_OVER, "qnn": Fate.PASSED_OVER, "gpu": Fate.CHOSE}


def test_where_no_rule_holds_the_decision_is_the_one_without_rules() -> None:
    without, with_rules = decided(ranking=LEARNED), decided(rule("never", "false", "learned"), ranking=LEARNED)
    assert with_rules.plans == without.plans


def test_a_ladder_stops_at_the_cpu_and_ends_with_it() -> None:
    assert ladder(decided(rule("r", "true", {"ladder": ["*.gpu", "fp32.*.cpu", "*.nnapi.*"]}))) == (
        GPU,
        "fp32.tflite.cpu",
    )
    assert ladder(decided(rule("r", "true", {"ladder": ["*"]}))) == (NPU, CPU)


def test_a_glob_stands_for_the_arm_that_was_learned_to_be_best() -> None:
    slow_int8 = Ranking((RankedArm("fp32.tflite.cpu", 3.0, 0.1, 9), RankedArm(CPU, 5.0, 0.1, 9)), ())
    assert ladder(decided(rule("r", "true", {"ladder": ["*.cpu"]}), ranking=slow_int8)) == ("fp32.tflite.cpu",)


def test_a_split_gives_shares_and_the_share_of_one_without_an_arm_moves_to_the_first() -> None:
    parts = [
        {"weight_bp": 500, "ladder": ["*.nnapi.*"]},
        {"weight_bp": 9_000, "ladder": ["*.gpu"]},
        {"weight_bp": 500, "ladder": ["*.qnn"], "explore": True},
    ]
    decision = decided(rule("canary", "true", {"split": parts}))
    assert decision.plans[0].splits == (Split(1_000, (NPU, CPU)), Split(9_000, (GPU, CPU)))


def test_nothing_is_explored_on_a_phone_that_nothing_is_learned_from() -> None:
    parts = [{"weight_bp": 9_000, "ladder": ["*.gpu"]}, {"weight_bp": 1_000, "ladder": ["*.nnapi.*"], "explore": True}]
    emulator = make_fingerprint(device={"product": "sdk_gphone64"})
    decision = decided(rule("try", "true", {"split": parts}), phone=emulator)
    assert decision.plans[0].splits == (Split(10_000, (GPU, CPU)),)


def test_a_rule_concerns_the_models_it_names() -> None:
    other = rule("detection", "true", {"ladder": ["*.cpu"]}, models=["detection"])
    assert decided(other).rules == ()
    assert ladder(decided(other, name="detection")) == (CPU,)


def test_a_rule_about_arms_makes_its_ladder_of_the_arms_it_holds_for() -> None:
    by_coverage = rule("covered", 'coverage.share >= 0.9 && variant.precision == "fp32"', {"ladder": ["*"]})
    assert ladder(decided(by_coverage)) == ("fp32.tflite.nnapi.google-edgetpu", CPU)


def test_history_is_known_to_be_nothing_before_anything_was_measured() -> None:
    fresh = rule("fresh", "history.burst.windows < 100", {"ladder": ["*.cpu"]})
    fast = rule("fast", "history.burst.expected_ms < 5.0", {"ladder": ["*.gpu"]})
    assert ladder(decided(fresh)) == (CPU,)
    decision = decided(fast)
    assert decision.rules[0].unknown == ("history.burst.expected_ms",)
    assert ladder(decided(fast, ranking=LEARNED))[0] == GPU


# What is unknown.


def test_what_is_unknown_matches_no_rule_and_is_told_to_the_phone() -> None:
    nameless = make_fingerprint(device={"soc_model": None})
    document = make_document(rules=[rule("r", '!(device.soc == "exynos-2400")', {"ladder": ["*.cpu"]})])
    decision = decide(nameless, document, [make_model()], Knowledge())
    [tried] = decision.models[0].rules
    assert (tried.fate, tried.unknown) == (Fate.UNKNOWN, ("device.soc",))
    because = to_wire(decision, document, 1, ISSUED)["models"]["segmentation"]["because"]
    assert {"rule": "r", "unknown": ["device.soc"]} in because


def test_a_rule_about_the_request_is_unknown_where_no_request_was_made() -> None:
    beta = rule("beta", "request.beta", {"ladder": ["*.gpu"]})
    assert fates(decided(beta)) == {"beta": Fate.UNKNOWN}
    assert ladder(decided(beta, request={"beta": True})) == (GPU, CPU)


# What is taken away.


def test_a_deny_beats_a_rule() -> None:
    decision = decided(rule("npu", "true", {"ladder": ["*.nnapi.*", "*.gpu"]}), denies=(deny("q1", "*.nnapi.*"),))
    assert ladder(decision) == (GPU, CPU)


def test_a_deny_with_a_condition_takes_away_only_where_it_holds() -> None:
    old = deny("old-driver", "*.nnapi.*", when='dotted(arm.accelerator.driver_version, "< 2.0.1")')
    newer = make_fingerprint(nnapi=nnapi({**EDGETPU, "version": "2.0.1"}))
    odd = make_fingerprint(nnapi=nnapi({**EDGETPU, "version": "rev. A"}))
    assert NPU not in decided(denies=(old,)).arms
    assert NPU in decided(denies=(old,), phone=newer).arms
    decision = decided(denies=(old,), phone=odd)
    assert NPU in decision.arms
    assert ("deny-unknown", NPU) in {(verdict.code, verdict.arm) for verdict in decision.verdicts}
    assert decision.denies[0].unknown == ('dotted(arm.accelerator.driver_version, "< 2.0.1")',)


def test_a_deny_by_operation_asks_what_the_driver_was_measured_to_take() -> None:
    needs = deny("needs-float", "*.nnapi.*", when='!arm.accelerator.supports("CONV_2D", "TENSOR_FLOAT16")')
    assert NPU not in decided(denies=(needs,)).arms
    silent = make_fingerprint(nnapi=nnapi({key: value for key, value in EDGETPU.items() if key != "supports"}))
    assert NPU in decided(denies=(needs,), phone=silent).arms


def test_a_rule_asks_whether_any_accelerator_takes_an_operation() -> None:
    takes = rule("takes", 'supports("CONV_2D", "TENSOR_FLOAT32")', {"ladder": ["*.gpu"]})
    refuses = rule("refuses", '!supports("CONV_2D", "TENSOR_FLOAT16")', {"ladder": ["*.cpu"]})
    assert decided(takes).plans[0].by == "takes"
    assert decided(refuses).plans[0].by == "refuses"
    silent = {**EDGETPU, "name": "mtk-neuron", "supports": None}
    unsure = make_fingerprint(nnapi=nnapi(EDGETPU, silent))
    assert decided(takes, phone=unsure).plans[0].by == "takes"
    assert fates(decided(refuses, phone=unsure)) == {"refuses": Fate.UNKNOWN}


def test_of_several_denies_the_narrowest_is_named_and_a_condition_narrows() -> None:
    wide, by_soc = deny("a-wide", "*.nnapi.*"), deny("b-soc", "*.nnapi.*", cohort={"socs": ["Tensor G4"]})
    narrow = by_soc | {"id": "c-when", "when": "device.api_level >= 30"}
    assert decided(denies=(wide, by_soc, narrow)).denied_by == ("c-when",)
    assert decided(denies=(wide, by_soc)).denied_by == ("b-soc",)


def test_a_deny_by_gpu_names_it_as_its_driver_does() -> None:
    assert GPU not in decided(denies=(deny("g", "*.gpu", cohort={"gpus": ["Mali-G715"]}),)).arms
    adreno = make_fingerprint(gpu={"renderer": "Adreno (TM) 740"})
    assert GPU not in decided(denies=(deny("g", "*.gpu", cohort={"gpus": ["Adreno 740"]}),), phone=adreno).arms


COHORT_PARTS = {
    "socs": ["tensor-g4", "sm8650"],
    "soc_ids": [618, 639],
    "gpus": ["mali-g715", "adreno-740"],
    "manufacturers": ["google", "samsung"],
    "models": ["Pixel 10a", "SM-S921B"],
    "accelerators": ["google-edgetpu", "qti-dsp"],
    "driver_versions": ["2.0", "9"],
}


@given(
    st.lists(
        st.fixed_dictionaries(
            {}, optional={part: st.lists(st.sampled_from(names), max_size=2) for part, names in COHORT_PARTS.items()}
        ),
        max_size=8,
    )
)
def test_denies_found_by_index_are_those_whose_cohort_holds(cohorts: list[dict[str, list[str]]]) -> None:
    document = make_document(denies=[deny(f"d{n}", "*", cohort=cohort) for n, cohort in enumerate(cohorts)])
    decision = decide_model(PHONE, document, make_model(variants=[make_variant()]), Knowledge())
    npu = next(
        arm for arm in decide_model(PHONE, make_document(), make_model(), Knowledge()).arms.values() if arm.id == NPU
    )
    hitting = [d for d in document.denies if d.cohort.holds(PHONE, npu)]
    assert (NPU in decision.arms) is not bool(hitting)
    if hitting:
        narrowest = min(hitting, key=lambda d: (d.width, d.id))
        assert NPU in next(tried.arms for tried in decision.denies if tried.id == narrowest.id)


# What is refused when it is saved.


@pytest.mark.parametrize(
    ("changes", "field", "nearest"),
    [
        ({"when": 'device.sco == "x"'}, "rules.0.when", "soc"),
        ({"use": "lerned"}, "rules.0.use", "learned"),
        ({"use": {"ladder": []}}, "rules.0.use", None),
        ({"use": {"laddr": ["*"]}}, "rules.0.use", "ladder"),
        ({"use": {"split": [{"weight_bp": 9_999, "ladder": ["*"]}]}}, "rules.0.use", None),
        ({"use": 7}, "rules.0.use", None),
        ({"uses": "learned"}, "rules.0.uses", "use"),
        ({"until": "soon"}, "rules.0.until", None),
    ],
)
def test_a_wrong_rule_is_refused_with_its_field_and_the_nearest_name(
    changes: dict[str, Any], field: str, nearest: str | None
) -> None:
    with pytest.raises((InvalidField, ConditionError)) as caught:
        make_document(rules=[rule("r", "true", "learned") | changes])
    assert (caught.value.field or "").startswith(field)
    assert caught.value.nearest == nearest


def test_a_condition_of_a_deny_is_refused_with_its_place_in_the_text() -> None:
    with pytest.raises(ConditionError) as caught:
        make_document(denies=[deny("q", "*"), deny("q1", "*", when="device.api_level >\n  '9'")])
    assert (caught.value.field, caught.value.line, caught.value.column) == ("denies.1.when", 2, 3)
    assert caught.value.expected == "a number"


def test_two_rules_of_one_id_are_refused() -> None:
    with pytest.raises(InvalidField, match="two rules have one id: r"):
        make_document(rules=[rule("r", "true", "learned")] * 2)


def test_a_document_with_rules_reads_back_what_it_writes() -> None:
    rules = [
        rule("a", "device.api_level > 3", {"ladder": ["*.gpu"]}, until="2026-05-01", description="why"),
        rule("b", "true", {"split": [{"weight_bp": 10_000, "ladder": ["*"]}]}, models=["segmentation"]),
        rule("c", "true", "out-of-the-box"),
    ]
    document = make_document(rules=rules)
    assert parse_document(document.model_dump(mode="json", by_alias=True)) == document


def test_a_rule_holds_on_its_last_day_and_a_document_without_it_asks_the_others() -> None:
    document = make_document(
        rules=[
            rule("ends", "true", {"ladder": ["*.gpu"]}, until="2026-05-01"),
            rule("stays", "true", {"ladder": ["*.cpu"]}),
        ]
    )
    assert len(document.standing.rules) == 2  # what was made ready for two rules is not kept for one
    for day, chosen in ((date(2026, 5, 1), GPU), (date(2026, 5, 2), CPU)):
        standing = document.in_force(day)
        assert ladder(decide_model(PHONE, standing, make_model(), Knowledge()))[0] == chosen
