"""Explanations in a rollout: exactly what the staged document gives the unit, with the chance of its key (R-F3, R-C10)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from builders import deny, make_document, make_fingerprint, make_model, make_variant
from hypothesis import given
from hypothesis import strategies as st

from policies.asked import Moment
from policies.assign import choose
from policies.decide import decide
from policies.evaluation import evaluate_model
from policies.explaining.explain import Explanation, explain
from policies.explaining.explain_trial import in_trial
from policies.explaining.explanation_json import explanation_json
from policies.knowledge import ArmShare, Knowledge, RankedArm, Ranking
from policies.rollouts.staging import staged
from policies.vocabulary import Workload
from policies.wire import to_wire

NPU, CPU = "int8.tflite.nnapi.google-edgetpu", "int8.tflite.cpu"
PHONE = make_fingerprint()
ISSUED = datetime(2026, 1, 1, tzinfo=UTC)
MODEL = make_model(variants=[make_variant("int8"), make_variant("fp32")])
NEWER = make_model(variants=[make_variant("int8", size_bytes=7), make_variant("fp32")])


def knowing(npu_bp: int | None) -> Knowledge:
    if npu_bp is None:
        return Knowledge()
    shares = (ArmShare(NPU, npu_bp), ArmShare(CPU, 10_000 - npu_bp, explore=True))
    ranking = Ranking((RankedArm(NPU, 4.0, 0.1, 90), RankedArm(CPU, 9.0, 0.2, 10)), shares)
    return Knowledge({"segmentation": {Workload.BURST: ranking}})


def asked(model: Any, knowledge: Knowledge, denies: list[Any], moment: Moment) -> Explanation:
    return explain(PHONE, make_document(denies=denies), model, knowledge, moment)


def document(model: Any, knowledge: Knowledge, denies: list[Any]) -> dict[str, Any]:
    policy = make_document(denies=denies)
    return to_wire(decide(PHONE, policy, [model], knowledge), policy, 1, ISSUED)


_SIDES = st.tuples(
    st.sampled_from([MODEL, NEWER]),
    st.one_of(st.none(), st.integers(1, 10_000)).map(knowing),
    st.sampled_from([[], [deny("d", "*.nnapi.*")]]),
)


@given(
    control=_SIDES,
    candidate=_SIDES,
    share_bp=st.integers(1, 9_999),
    unit=st.uuids().map(str),
    workload=st.sampled_from(Workload),
)
def test_a_unit_gets_what_the_staged_document_gives_it(
    control: Any, candidate: Any, share_bp: int, unit: str, workload: Workload
) -> None:
    moment = Moment(unit_id=unit, workload=workload)
    made = in_trial(asked(*control, moment), asked(*candidate, moment), share_bp)
    served = staged(document(*control), document(*candidate), share_bp)["models"]["segmentation"]
    name = next(s["plan"] for s in served["situations"] if s["when"].get("workload", workload) == workload)
    splits = served["plans"][name]["splits"]
    number = choose([split["weight"] for split in splits], made.bucket or 0)
    assert number is not None
    assert list(made.keys) == splits[number]["ladder"]
    lead = made.keys[0]
    assert made.propensity == sum(s["weight"] for s in splits if s["ladder"][0] == lead) / 10_000
    told = explanation_json(made)
    assert told["plan"]["name"] == name
    assert told["chosen"] == {"arm": lead} | served["arms"][lead]
    assert evaluate_model(made, 1).variant == lead


def test_without_a_unit_nobody_is_put_into_a_trial() -> None:
    sides = [asked(model, Knowledge(), [], Moment()) for model in (MODEL, NEWER)]
    made = in_trial(sides[0], sides[1], 9_999)
    assert (made.trial, made.keys, made.propensity) == (None, sides[0].ladder, 1.0)


def test_a_candidate_that_changes_nothing_is_not_tried() -> None:
    moment = Moment(unit_id="u")
    assert in_trial(asked(MODEL, Knowledge(), [], moment), asked(MODEL, Knowledge(), [], moment), 5_000).trial is None


def test_a_unit_is_told_its_side_and_the_share_that_is_tried() -> None:
    for unit in ("a", "b", "c", "d", "e"):
        moment = Moment(unit_id=unit)
        made = in_trial(asked(MODEL, Knowledge(), [], moment), asked(NEWER, Knowledge(), [], moment), 5_000)
        side = "candidate" if (made.bucket or 0) < 5_000 else None
        assert explanation_json(made)["rollout"] == {"side": side, "share": 5_000}
        assert evaluate_model(made, 1).metadata.get("side") == side
