"""Decisions: ladders with their why, before and after anything was measured (R-C1, R-C3, R-C5, R-C10)."""

from __future__ import annotations

from typing import Any

import pytest
from builders import EDGETPU, REFERENCE, chain, deny, make_document, make_fingerprint, make_model, make_variant, nnapi
from hypothesis import given
from hypothesis import strategies as st

from policies.asked import Moment
from policies.assign import BUCKETS
from policies.decide import ModelDecision, decide, decide_model
from policies.fingerprint import Fingerprint
from policies.knowledge import ArmShare, Knowledge, RankedArm, Ranking
from policies.plans import Plan, Rule, Split
from policies.vocabulary import Workload

NPU, GPU, CPU = "int8.tflite.nnapi.google-edgetpu", "fp32.tflite.gpu", "int8.tflite.cpu"
PHONE = make_fingerprint()


def decided(
    phone: Fingerprint = PHONE, ranking: Ranking | None = None, policy: dict[str, Any] | None = None, **model: Any
) -> ModelDecision:
    knowledge = Knowledge({"segmentation": dict.fromkeys(Workload, ranking)} if ranking else {})
    return decide_model(phone, make_document(**(policy or {})), make_model(**model), knowledge)


def lead(decision: ModelDecision) -> str:
    return decision.plans[0].splits[0].ladder[0]


def codes(decision: ModelDecision) -> dict[str, str]:
    return {verdict.arm: verdict.code for verdict in decision.verdicts}


def ranked(*arms: str, shares: tuple[ArmShare, ...] | None = None, excluded: dict[str, str] | None = None) -> Ranking:
    order = tuple(RankedArm(arm, 4.0 + place, 0.1, 100) for place, arm in enumerate(arms))
    return Ranking(order, shares or (ArmShare(arms[0], 10_000),), excluded or {})


def covered(taken: int, of: int) -> dict[str, Any]:
    """An INT8 file of which the driver takes the first `taken` operations."""
    graph = chain(*["CONV_2D"] * taken, *["CUSTOM:tail"] * (of - taken))
    return {"variants": [make_variant(graph=graph.to_json())]}


# What leads before anything was measured.


@pytest.mark.parametrize(
    ("taken", "of", "target_ms", "code"),
    [
        (20, 20, 30.0, "leads"),
        (19, 20, 30.0, "leads"),
        (94, 100, 30.0, "cuts-affordable"),
        (94, 100, 5.9, "not-used"),
        (94, 100, 6.1, "cuts-affordable"),
        (71, 100, 30.0, "cuts-affordable"),
        (70, 100, 30.0, "not-used"),
        (10, 100, 30.0, "not-used"),
    ],
)
def test_coverage_and_the_cost_of_cuts_decide_who_leads(taken: int, of: int, target_ms: float, code: str) -> None:
    decision = decided(**covered(taken, of), latency_target_ms=target_ms)
    assert codes(decision)[NPU] == code
    assert lead(decision) == (CPU if code == "not-used" else NPU)


def test_an_operator_moves_the_limits() -> None:
    strict = {"thresholds": {"lead_coverage": 1.0, "cpu_coverage": 0.99}}
    assert lead(decided(**covered(98, 100))) == NPU
    assert lead(decided(**covered(98, 100), policy=strict)) == CPU


def test_a_file_whose_graph_is_registered_anew_is_judged_by_the_new_one() -> None:
    good, bad = (chain(op, op, op).to_json() for op in ("CONV_2D", "CUSTOM:tail"))
    assert lead(decided(variants=[make_variant(sha256="a" * 64, graph=good)])) == NPU
    assert lead(decided(variants=[make_variant(sha256="a" * 64, graph=bad)])) == CPU


def test_nnapi_below_1_2_is_not_used() -> None:
    for level, used in ((28, False), (29, True)):
        phone = make_fingerprint(nnapi=nnapi(dict(EDGETPU, feature_level=level), REFERENCE))
        assert any(".nnapi." in arm for arm in decided(phone).arms) is used


def test_a_phone_that_lists_only_the_reference_runs_on_its_gpu_or_cpu() -> None:
    decision = decided(make_fingerprint(nnapi=nnapi(REFERENCE)))
    assert not any("nnapi" in arm for arm in decision.arms)
    assert lead(decision) == CPU


def test_an_accelerator_that_vanished_with_an_update_is_not_offered_any_more() -> None:
    before, after = make_fingerprint(), make_fingerprint(device={"api_level": 37}, nnapi=nnapi(REFERENCE))
    assert before.device_class != after.device_class
    assert before.driver_stack != after.driver_stack
    assert (lead(decided(before)), lead(decided(after))) == (NPU, CPU)


def test_a_driver_of_which_nothing_is_known_does_not_lead() -> None:
    assert codes(decided(variants=[make_variant()]))[NPU] == "not-used"


def test_a_vendor_runtime_leads_where_it_loads_and_is_not_offered_where_nobody_knows() -> None:
    variants = [make_variant("int8", "dlc"), make_variant("int8", "tflite")]
    for state, offered in (("loaded 2.30", True), ("not_found", False), ("absent", False), (None, False)):
        decision = decided(make_fingerprint(runtimes={"qnn": state}), variants=variants)
        assert ("int8.dlc.qnn" in decision.arms) is offered
        assert (lead(decision) == "int8.dlc.qnn") is offered


@pytest.mark.parametrize(("soc", "used"), [("SM8550", True), ("QCS6490", False), ("SM8350", False), ("SM7150", True)])
def test_a_float_file_is_kept_from_an_npu_known_to_compute_in_integers_only(soc: str, used: bool) -> None:
    phone = make_fingerprint(device={"soc_model": soc}, nnapi=None, runtimes={"qnn": "loaded"})
    files = [make_variant("fp32", "dlc"), make_variant("int8", "dlc"), make_variant("fp32", "tflite")]
    decision = decided(phone, variants=files)
    assert codes(decision)["fp32.dlc.qnn"] == ("leads" if used else "integers-only")
    assert codes(decision)["int8.dlc.qnn"] == "leads"
    assert lead(decided(phone, variants=[files[0], files[2]])) == ("fp32.dlc.qnn" if used else "fp32.tflite.cpu")


def test_a_transformer_tries_the_vendors_runtime_first() -> None:
    graph = chain(*["CONV_2D"] * 20, activation="int8").to_json()
    phone = make_fingerprint(runtimes={"edgetpu": "loaded"})
    text = {"task": "text-generation", "variants": [make_variant(), make_variant("int8", "pte")]}
    assert lead(decided(phone, **text)).endswith(".edgetpu")
    attention = chain(*["CONV_2D"] * 6, *["BATCH_MATMUL"] * 4)
    assert make_model(variants=[make_variant(graph=attention.to_json())]).transformer_like
    assert not make_model(task="text-generation", variants=[make_variant(graph=graph)]).transformer_like


@pytest.mark.parametrize(
    ("name", "precision"), [("vsi-npu", "int8"), ("google-edgetpu", "int8"), ("mtk-neuron", "int8")]
)
def test_integers_go_first_to_an_accelerator_that_has_them(name: str, precision: str) -> None:
    phone = make_fingerprint(nnapi=nnapi(dict(EDGETPU, name=name)))
    assert lead(decided(phone)) == f"{precision}.tflite.nnapi.{name}"


def test_only_an_app_without_any_file_for_the_phone_gets_no_plan() -> None:
    model = make_model(variants=[make_variant("int8", "dlc")])
    decision = decide(PHONE, make_document(), [model], Knowledge())
    assert decision.models == ()


# What the fleet has taught.


def test_what_was_learned_beats_the_rule() -> None:
    decision = decided(ranking=ranked(CPU, NPU))
    assert (lead(decision), decision.plans[0].rule) == (CPU, Rule.LEARNED)
    assert decision.plans[0].evidence == {"n": 200, "expected_ms": 4.0, "sd_log": 0.1}


def test_what_was_learned_of_arms_that_the_phone_has_not_changes_nothing() -> None:
    decision = decided(ranking=ranked("int8.dlc.qnn"))
    assert (lead(decision), decision.plans[0].rule) == (NPU, Rule.OUT_OF_THE_BOX)


def test_workloads_have_plans_of_their_own_where_they_differ() -> None:
    rankings = {"segmentation": {Workload.BURST: ranked(NPU), Workload.SUSTAINED: ranked(CPU)}}
    decision = decide_model(PHONE, make_document(), make_model(), Knowledge(rankings))
    assert [plan.workload for plan in decision.plans] == [Workload.BURST, Workload.SUSTAINED]
    assert decision.plan(Moment(workload=Workload.SUSTAINED)).splits[0].ladder[0] == CPU
    assert decision.plan(Moment(workload=Workload.BURST)).splits[0].ladder[0] == NPU


def test_workloads_that_agree_share_one_plan() -> None:
    decision = decided(ranking=ranked(NPU))
    assert [plan.workload for plan in decision.plans] == [Workload.BURST]
    assert decision.plan(Moment(workload=Workload.SUSTAINED)) is decision.plans[0]


def test_an_excluded_arm_is_in_no_ladder_and_says_why() -> None:
    decision = decided(ranking=ranked(CPU, excluded={NPU: "golden-check"}))
    assert all(NPU not in split.ladder for plan in decision.plans for split in plan.splits)
    assert codes(decision)[NPU] == "excluded"


def test_an_arm_excluded_before_any_was_ranked_is_in_no_ladder_either() -> None:
    decision = decided(ranking=Ranking((), (), {NPU: "error-rate"}))
    assert lead(decision) != NPU
    assert all(NPU not in split.ladder for plan in decision.plans for split in plan.splits)


def test_the_share_of_an_arm_that_is_gone_moves_to_the_lead() -> None:
    shares = (ArmShare(NPU, 9000), ArmShare(GPU, 600, True), ArmShare("int8.dlc.qnn", 400, True))
    assert decided(ranking=ranked(NPU, GPU, shares=shares)).plans[0].splits == (
        Split(9400, (NPU, GPU, CPU)),
        Split(600, (GPU, NPU, CPU), explore=True),
    )


def test_the_share_of_a_denied_lead_moves_to_the_next_best() -> None:
    shares = (ArmShare(NPU, 9000), ArmShare(CPU, 1000, True))
    decision = decided(ranking=ranked(NPU, CPU, shares=shares), policy={"denies": [deny("q1", NPU)]})
    assert [(split.weight_bp, split.ladder[0]) for split in decision.plans[0].splits] == [(10_000, CPU)]


# What is taken away.


def test_a_deny_beats_what_was_learned() -> None:
    decision = decided(ranking=ranked(NPU, CPU), policy={"denies": [deny("q1", "*.nnapi.*")]})
    assert lead(decision) == CPU
    assert codes(decision)[NPU] == "denied"
    assert decision.denied_by == ("q1",)


def test_of_two_denies_the_narrower_is_named() -> None:
    wide = deny("a-wide", "*")
    narrow = deny("z-narrow", NPU, cohort={"socs": ["Tensor G4"], "manufacturers": ["Google"]})
    decision = decided(policy={"denies": [wide, narrow]})
    verdicts = {v.arm: v.because for v in decision.verdicts}
    assert verdicts[NPU].startswith("z-narrow:")
    assert verdicts[CPU].startswith("a-wide:")
    assert decision.plans == ()


def test_a_variant_over_its_accuracy_budget_is_not_offered() -> None:
    variants = [make_variant("int8", accuracy_drop=0.024), make_variant("fp32", accuracy_drop=0.0)]
    decision = decided(variants=variants, max_accuracy_drop=0.02)
    assert codes(decision)[CPU] == "accuracy-budget"
    assert set(decision.arms) == {"fp32.tflite.cpu", GPU, "fp32.tflite.nnapi.google-edgetpu"}


INTEGERS_ONLY = make_fingerprint(device={"soc_model": "QCS6490"}, runtimes={"qnn": "loaded 2.48.0"}, nnapi=nnapi())


@pytest.mark.parametrize(
    "rules", [[], [{"id": "float-first", "when": "true", "use": {"ladder": ["fp16.*.qnn", "fp32.*.qnn"]}}]]
)
@pytest.mark.parametrize("learned", ["fp16.tflite.qnn", "int8.tflite.qnn"])
def test_an_npu_that_computes_in_integers_is_never_given_a_float_file(rules: Any, learned: str) -> None:
    variants = [make_variant("fp16"), make_variant("fp32"), make_variant("int8")]
    decision = decided(INTEGERS_ONLY, ranking=ranked(learned), policy={"rules": rules}, variants=variants)
    assert {codes(decision)["fp16.tflite.qnn"], codes(decision)["fp32.tflite.qnn"]} == {"integers-only"}
    served = {arm for plan in decision.plans for split in plan.splits for arm in split.ladder}
    assert not served & {"fp16.tflite.qnn", "fp32.tflite.qnn"}
    assert "int8.tflite.qnn" in decision.arms


def test_a_binary_for_another_chip_is_not_offered() -> None:
    variants = [make_variant(id="other", targets=["sm8650"]), make_variant("fp32")]
    assert not any(arm.startswith("int8") for arm in decided(variants=variants).arms)


def test_the_app_can_say_that_a_driver_is_switched_off() -> None:
    off = decide(make_fingerprint(nnapi=nnapi(REFERENCE)), make_document(), [make_model()], Knowledge())
    on = decide(PHONE, make_document(), [make_model()], Knowledge())
    assert (len(off.advice), on.advice) == (1, ())


# Ladders and shares.


def test_each_rung_fails_for_another_reason_and_the_cpu_is_last() -> None:
    [split] = decided().plans[0].splits
    assert split.ladder == (NPU, GPU, CPU)


@pytest.mark.parametrize(("rungs", "ladder"), [(1, (NPU, CPU)), (2, (NPU, CPU)), (3, (NPU, GPU, CPU))])
def test_a_ladder_is_as_long_as_the_policy_says_and_never_without_its_cpu(rungs: int, ladder: tuple[str, ...]) -> None:
    assert decided(policy={"ladder_rungs": rungs}).plans[0].splits[0].ladder == ladder


def test_a_ladder_for_the_cpu_needs_no_other_rung() -> None:
    assert decided(ranking=ranked(CPU, NPU)).plans[0].splits[0].ladder == (CPU,)


def _explored(plan: Plan) -> list[str]:
    return [split.ladder[0] for split in plan.splits if split.explore]


def test_before_anything_is_known_a_share_explores_arms_of_other_kinds() -> None:
    plan = decided(policy={"exploration_bp": 2000}).plans[0]
    explored = _explored(plan)
    assert sum(split.weight_bp for split in plan.splits if split.explore) == 2000
    assert NPU not in explored
    kinds = [(arm.split(".")[0], *arm.split(".")[2:]) for arm in explored]
    assert len(set(kinds)) == len(kinds) >= 2
    assert decided(policy={"exploration_bp": 2000}).plans[0] == plan


@pytest.mark.parametrize("device", [{"model": "sdk_gphone64_arm64"}, {"api_level": 29}, {"product": "lineage_x"}])
def test_a_class_that_is_not_learned_from_explores_nothing(device: dict[str, Any]) -> None:
    phone = make_fingerprint(device=device)
    assert not phone.learnable
    assert _explored(decided(phone, policy={"exploration_bp": 2000}).plans[0]) == []
    learned = ranked(NPU, CPU, shares=(ArmShare(NPU, 9000), ArmShare(CPU, 1000, True)))
    assert [split.weight_bp for split in decided(phone, learned).plans[0].splits] == [10_000]


_NAMES = (NPU, GPU, CPU, "fp32.tflite.cpu", "int8.dlc.qnn", "fp32.tflite.nnapi.google-edgetpu")


@st.composite
def rankings(draw: st.DrawFn) -> Ranking:
    arms = draw(st.lists(st.sampled_from(_NAMES), unique=True))
    weights = draw(st.lists(st.integers(0, 2500), max_size=4))
    shares = tuple(ArmShare(draw(st.sampled_from(_NAMES)), weight, draw(st.booleans())) for weight in weights)
    excluded = draw(st.sets(st.sampled_from(_NAMES), max_size=2))
    order = tuple(RankedArm(arm, 1.0 + place, 0.1, 9) for place, arm in enumerate(arms) if arm not in excluded)
    return Ranking(order, shares, dict.fromkeys(sorted(excluded), "error-rate"))


@given(
    ranking=rankings(),
    denied=st.sets(st.sampled_from(_NAMES), max_size=3),
    rungs=st.integers(1, 8),
    exploration_bp=st.integers(0, 10_000),
)
def test_whatever_is_learned_and_denied_shares_are_whole_and_ladders_are_sound(
    ranking: Ranking, denied: set[str], rungs: int, exploration_bp: int
) -> None:
    denies = [deny("q1", *sorted(denied))] if denied else []
    policy = {"denies": denies, "ladder_rungs": rungs, "exploration_bp": exploration_bp}
    decision = decided(ranking=ranking, policy=policy)
    taken = denied | set(ranking.excluded)
    for plan in decision.plans:
        assert sum(split.weight_bp for split in plan.splits) == BUCKETS
        for split in plan.splits:
            assert split.weight_bp > 0
            assert not taken & set(split.ladder)
            assert len(set(split.ladder)) == len(split.ladder) <= max(rungs, 2)
            if not {CPU, "fp32.tflite.cpu"} <= taken:
                assert split.ladder[-1].endswith(".cpu")
    assert decision == decided(ranking=ranking, policy=policy)
