"""Situations: what a rule states for a hot phone, or one that saves its battery, is in the document beside the rest (R-C7)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from builders import make_document, make_fingerprint, make_model
from hypothesis import given
from hypothesis import strategies as st

from nnfleet_client.document import parse_document as parse_decision
from nnfleet_client.situations import Circumstances, Thermal, matching_plan
from policies.asked import Moment
from policies.decide import Decision, decide
from policies.errors import InvalidField
from policies.knowledge import ArmShare, Knowledge, RankedArm, Ranking
from policies.vocabulary import ThermalStatus, Workload
from policies.wire import plan_name, to_wire

ISSUED = datetime(2026, 5, 1, tzinfo=UTC)
PHONE = make_fingerprint()
NPU, GPU, CPU = "int8.tflite.nnapi.google-edgetpu", "fp32.tflite.gpu", "int8.tflite.cpu"
HOT = {"thermal_at_least": "moderate"}


def rule(name: str, use: Any, situation: dict[str, Any] | None = None, when: str = "true") -> dict[str, Any]:
    return {"id": name, "when": when, "use": use} | ({"situation": situation} if situation else {})


def decided(*rules: dict[str, Any], ranking: dict[Workload, Ranking] | None = None) -> Decision:
    knowledge = Knowledge({"segmentation": ranking}) if ranking else Knowledge()
    return decide(PHONE, make_document(rules=list(rules)), [make_model()], knowledge)


def document(decision: Decision) -> dict[str, Any]:
    wire = to_wire(decision, make_document(), 1, ISSUED)
    model: dict[str, Any] = wire["models"]["segmentation"]
    return model


def lead(decision: Decision, **moment: Any) -> str:
    return decision.models[0].plan(Moment(**moment)).splits[0].ladder[0]


def test_a_hot_phone_gets_what_a_rule_states_for_heat_and_a_cool_one_what_it_had() -> None:
    decision = decided(rule("cool-down", {"ladder": ["*.cpu"]}, HOT))
    assert lead(decision) == NPU
    assert lead(decision, thermal=ThermalStatus.LIGHT) == NPU
    assert lead(decision, thermal=ThermalStatus.MODERATE).endswith(".cpu")
    assert lead(decision, thermal=ThermalStatus.SEVERE).endswith(".cpu")


def test_the_document_holds_both_and_tells_when() -> None:
    model = document(decided(rule("cool-down", {"ladder": ["*.cpu"]}, HOT)))
    assert model["situations"] == [
        {"when": {"workload": "sustained", "thermal_at_least": "moderate"}, "plan": "sustained.thermal-moderate"},
        {"when": {"thermal_at_least": "moderate"}, "plan": "burst.thermal-moderate"},
        {"when": {}, "plan": "main"},
    ]
    assert {"rule": "stated", "workload": "burst", "by": "cool-down"} in model["because"]


def test_a_situation_that_changes_nothing_is_not_in_the_document() -> None:
    model = document(decided(rule("the-same", "out-of-the-box", HOT)))
    assert model["situations"] == [{"when": {}, "plan": "main"}]


def test_a_rule_before_it_that_holds_without_a_situation_chooses_in_every_one() -> None:
    decision = decided(rule("always-gpu", {"ladder": ["*.gpu"]}), rule("cool-down", {"ladder": ["*.cpu"]}, HOT))
    assert lead(decision, thermal=ThermalStatus.SEVERE) == GPU


def test_a_situation_for_sustained_work_leaves_bursts_alone() -> None:
    decision = decided(rule("cool-down", {"ladder": ["*.cpu"]}, HOT | {"workload": "sustained"}))
    assert lead(decision, thermal=ThermalStatus.SEVERE) == NPU
    assert lead(decision, workload=Workload.SUSTAINED, thermal=ThermalStatus.SEVERE).endswith(".cpu")
    assert document(decision)["situations"][0]["when"] == {
        "workload": "sustained",
        "thermal_at_least": "moderate",
    }


def test_a_rule_for_some_heat_holds_for_more_heat_too() -> None:
    decision = decided(
        rule("very-hot", {"ladder": ["fp32.*.cpu"]}, {"thermal_at_least": "critical"}, when="device.api_level < 20"),
        rule("warm", {"ladder": ["*.cpu"]}, HOT),
    )
    assert lead(decision, thermal=ThermalStatus.CRITICAL).endswith(".cpu")


def test_where_sustained_work_runs_as_usual_a_hot_burst_says_so() -> None:
    sustained = Ranking((RankedArm(CPU, 3.0, 0.1, 40),), (ArmShare(CPU, 10_000),))
    decision = decided(rule("cool-down", {"ladder": ["int8.*.cpu"]}, HOT), ranking={Workload.SUSTAINED: sustained})
    model = document(decision)
    assert {"when": {"workload": "burst", "thermal_at_least": "moderate"}, "plan": "burst.thermal-moderate"} in model[
        "situations"
    ]


def test_a_rule_that_changes_nothing_still_comes_before_a_later_one_where_both_hold() -> None:
    decision = decided(
        rule("hot-as-usual", "out-of-the-box", HOT), rule("saving", {"ladder": ["*.cpu"]}, {"battery_saver": True})
    )
    assert lead(decision, thermal=ThermalStatus.SEVERE, battery_saver=True) == NPU
    assert lead(decision, battery_saver=True).endswith(".cpu")
    assert [s["when"] for s in document(decision)["situations"] if "workload" not in s["when"]] == [
        {"thermal_at_least": "moderate"},
        {"battery_saver": True},
        {},
    ]


@pytest.mark.parametrize("situation", [{}, {"thermal_at_least": "boiling"}, {"weather": "rain"}, {"workload": "idle"}])
def test_a_situation_that_no_phone_could_test_is_refused(situation: dict[str, Any]) -> None:
    with pytest.raises(InvalidField):
        make_document(rules=[rule("wrong", "learned") | {"situation": situation}])


situations = st.fixed_dictionaries(
    {},
    optional={
        "workload": st.sampled_from([w.value for w in Workload]),
        "thermal_at_least": st.sampled_from([t.value for t in ThermalStatus]),
        "battery_saver": st.booleans(),
    },
)
uses = st.sampled_from([{"ladder": ["*.cpu"]}, {"ladder": ["*.gpu"]}, {"ladder": ["*.nnapi.*"]}, "out-of-the-box"])
moments = st.builds(
    Moment,
    workload=st.sampled_from(Workload),
    thermal=st.none() | st.sampled_from(ThermalStatus),
    battery_saver=st.none() | st.booleans(),
)


@given(st.lists(st.tuples(situations, uses), max_size=4), moments)
def test_a_phone_picks_the_plan_that_the_service_says_it_picks(
    stated: list[tuple[dict[str, Any], Any]], moment: Moment
) -> None:
    decision = decided(*(rule(f"rule-{n}", use, situation or None) for n, (situation, use) in enumerate(stated)))
    wire = to_wire(decision, make_document(), 1, ISSUED)
    parsed = parse_decision(json.dumps(wire).encode()).models["segmentation"]
    thermal = None if moment.thermal is None else Thermal[moment.thermal.name]
    picked = matching_plan(parsed.situations, Circumstances(moment.workload, thermal, moment.battery_saver))
    chosen = decision.models[0].plan(moment)
    assert picked is not None
    assert picked == plan_name(decision.models[0], chosen)


@given(st.lists(st.tuples(situations, uses), min_size=1, max_size=4), moments)
def test_the_first_rule_whose_situation_holds_chooses(stated: list[tuple[dict[str, Any], Any]], moment: Moment) -> None:
    rules = [rule(f"rule-{n}", use, situation or None) for n, (situation, use) in enumerate(stated)]
    document = make_document(rules=rules)
    first = next((r for r in document.rules if r.situation is None or r.situation.holds(moment)), None)
    alone = [{"id": first.id, "when": "true", "use": first.model_dump(mode="json")["use"]}] if first else []
    assert lead(decided(*rules), **dict(moment)) == lead(decided(*alone), workload=moment.workload)


def test_the_golden_reference_is_in_the_document() -> None:
    golden = {"input_sha256": "ab" * 32, "tolerance": 0.02}
    decision = decide(PHONE, make_document(), [make_model(golden=golden)], Knowledge())
    assert document(decision)["golden"] == golden
    assert "golden" not in document(decided())
