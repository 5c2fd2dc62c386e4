"""Explanations: nothing about a decision is left out, and none differs from what the phone gets (R-C10)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from builders import deny, make_document, make_fingerprint, make_model, make_variant
from hypothesis import given
from hypothesis import strategies as st

from policies.arm import executable_arms
from policies.asked import Moment
from policies.decide import decide
from policies.explaining.explain import Explanation, explain
from policies.explaining.explanation_json import explanation_json, explanations_json
from policies.knowledge import ArmShare, Knowledge, RankedArm, Ranking
from policies.vocabulary import Workload
from policies.wire import to_wire

NPU, GPU, CPU = "int8.tflite.nnapi.google-edgetpu", "fp32.tflite.gpu", "int8.tflite.cpu"
PHONE = make_fingerprint()
TWO_SHARES = Ranking(
    (RankedArm(NPU, 4.0, 0.1, 90), RankedArm(CPU, 9.0, 0.2, 10)),
    (ArmShare(NPU, 9_000), ArmShare(CPU, 1_000, explore=True)),
)


def knowing(ranking: Ranking | None) -> Knowledge:
    return Knowledge({"segmentation": dict.fromkeys(Workload, ranking)} if ranking else {})


def explained(ranking: Ranking | None = None, policy: dict[str, Any] | None = None, **moment: Any) -> Explanation:
    return explain(PHONE, make_document(**(policy or {})), make_model(), knowing(ranking), Moment(**moment))


def test_every_arm_that_the_phone_could_run_is_named_with_a_verdict() -> None:
    made = explained(policy={"denies": [deny("no-npu", "*.nnapi.*")]})
    assert {line.arm.id for line in made.arms} == {arm.id for arm in executable_arms(PHONE, make_model())}
    assert all(line.verdicts for line in made.arms)


def test_a_deny_is_named_with_the_arms_it_takes_away_and_its_reason() -> None:
    made = explained(policy={"denies": [deny("no-npu", "*.nnapi.*"), deny("elsewhere", "*.qnn")]})
    other, told = explanation_json(made)["denies"]
    assert (other["id"], other["fate"]) == ("elsewhere", "not-matched")
    gone = [NPU, "fp32.tflite.nnapi.google-edgetpu"]
    assert told == {
        "id": "no-npu", "arms": ["*.nnapi.*"], "reason": "seen to fail", "until": None,
        "when": None, "facts": {}, "fate": "took-away", "took_away": gone, "unknown": [],
    }  # fmt: skip
    assert [line.arm.id for line in made.arms if line.taken_away] == gone


def test_a_deny_that_was_asked_and_could_not_be_answered_says_what_is_unknown() -> None:
    unknown = deny("old-driver", "*.gpu", when="request.beta")
    [told] = explanation_json(explained(policy={"denies": [unknown]}))["denies"]
    assert (told["fate"], told["took_away"], told["unknown"]) == ("unknown", [], ["request.beta"])


def test_a_rule_tells_its_condition_and_the_facts_that_decided_it() -> None:
    when = "device.soc == 'tensor-g4' && request.version < 3 && accelerators.exists(a, a.level >= 7)"
    rule = {"id": "old-app", "when": when, "use": {"ladder": ["*.cpu"]}}
    [chose] = explanation_json(explained(policy={"rules": [rule]}, facts={"version": 2}))["rules"]
    assert (chose["id"], chose["when"], chose["fate"]) == ("old-app", when, "chose")
    named = [(one["name"], one["level"]) for one in chose["facts"].pop("accelerators")]
    assert named == [("google-edgetpu", 7), ("nnapi-reference", 8)]
    assert chose["facts"] == {"device.soc": "tensor-g4", "request.version": 2}


def test_a_rule_that_does_not_hold_tells_why_as_well() -> None:
    rule = {"id": "other-chip", "when": "device.soc == 'tensor-g3' || request.beta", "use": {"ladder": ["*.cpu"]}}
    [asked] = explanation_json(explained(policy={"rules": [rule]}))["rules"]
    assert (asked["fate"], asked["facts"], asked["unknown"]) == (
        "unknown",
        {"device.soc": "tensor-g4"},
        ["request.beta"],
    )


def test_arms_stand_in_the_order_of_the_ladder_and_then_those_taken_away_last() -> None:
    made = explained(policy={"denies": [deny("no-npu", f"{NPU}")]})
    rungs = [line.rung for line in made.arms]
    assert [line.arm.id for line in made.arms[: len(made.ladder)]] == list(made.ladder)
    assert rungs[: len(made.ladder)] == list(range(1, len(made.ladder) + 1))
    assert made.arms[-1].arm.id == NPU


def test_who_is_drawn_gets_a_bucket_a_split_and_its_propensity() -> None:
    for unit in ("a", "b", "c", "d"):
        made = explained(TWO_SHARES, unit_id=unit)
        assert made.chosen is not None
        line = made.splits[made.chosen]
        assert line.first_bucket <= (made.bucket or 0) <= line.last_bucket
        assert made.ladder == line.split.ladder
        assert made.propensity == line.split.weight_bp / 10_000


def test_without_a_unit_nobody_is_drawn_and_what_a_client_without_one_serves_is_shown() -> None:
    made = explained(TWO_SHARES)
    assert (made.bucket, made.chosen, made.propensity) == (None, None, None)
    assert made.ladder[0] == NPU


def test_a_plan_that_everybody_gets_needs_no_unit() -> None:
    made = explained()
    assert (made.bucket, made.chosen, made.propensity) == (None, 0, 1.0)


def test_learned_estimates_carry_their_intervals_and_say_which_arms_are_gone() -> None:
    made = explained(TWO_SHARES, {"denies": [deny("no-npu", NPU)]})
    first, second = explanation_json(made)["learned"]
    assert (first["arm"], first["usable"], first["windows"]) == (NPU, False, 90)
    assert first["low_ms"] < 4.0 < first["high_ms"]
    assert (second["arm"], second["usable"]) == (CPU, True)


def test_a_phone_that_may_run_nothing_has_no_chosen_arm() -> None:
    told = explanation_json(explained(policy={"denies": [deny("all-off", "*")]}))
    assert (told["chosen"], told["ladder"], told["plan"]) == (None, [], None)
    assert [d["id"] for d in told["denies"]] == ["all-off"]


def test_the_unit_id_is_not_repeated() -> None:
    made = explained(TWO_SHARES, unit_id="somebody-in-person")
    assert "somebody-in-person" not in json.dumps(explanations_json("camera", 7, [made]))


@given(
    unit=st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable()),
    workload=st.sampled_from(Workload),
    npu_bp=st.integers(0, 10_000),
    denied=st.sampled_from(["", NPU, GPU, "*.nnapi.*"]),
)
def test_what_is_explained_is_what_the_document_holds(unit: str, workload: Workload, npu_bp: int, denied: str) -> None:
    ranking = Ranking((RankedArm(NPU, 4.0, 0.1, 90),), (ArmShare(NPU, npu_bp), ArmShare(CPU, 10_000 - npu_bp)))
    document = make_document(denies=[deny("d", denied)] if denied else [])
    model = make_model(variants=[make_variant("int8"), make_variant("fp32")])
    made = explain(PHONE, document, model, knowing(ranking), Moment(workload=workload, unit_id=unit))
    wire = to_wire(decide(PHONE, document, [model], knowing(ranking)), document, 1, datetime(2026, 1, 1, tzinfo=UTC))
    served = wire["models"]["segmentation"]
    told = explanation_json(made)
    assert told["chosen"] == {"arm": told["ladder"][0]} | served["arms"][told["ladder"][0]]
    splits = served["plans"][told["plan"]["name"]]["splits"]
    assert [(s["weight"], s["ladder"]) for s in told["splits"]] == [(s["weight"], s["ladder"]) for s in splits]
