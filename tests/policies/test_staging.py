"""Both sides of a rollout in one document: every bucket gets one of the two, and only a raised share moves anybody (R-C9, R-F3)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders import make_document, make_fingerprint, make_model, make_variant
from hypothesis import given
from hypothesis import strategies as st

from nnfleet_client.document import parse_document
from nnfleet_client.plan import choose as choose_plan
from nnfleet_client.situations import Circumstances
from nnfleet_client.store import Reason, Standing
from policies.assign import choose
from policies.decide import decide
from policies.knowledge import Knowledge
from policies.rollouts.staging import Side, keyed, parted, staged
from policies.wire import to_wire

ARMS = ("a", "b", "c", "d")
WHENS: tuple[dict[str, Any], ...] = (
    {"workload": "sustained"},
    {"thermal_at_least": "moderate"},
    {"workload": "sustained", "thermal_at_least": "severe"},
    {"workload": "burst"},
)
MOMENTS = [(workload, heat) for workload in ("burst", "sustained") for heat in ("none", "moderate", "severe")]
HEAT = ("none", "light", "moderate", "severe")


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    cuts = sorted(draw(st.sets(st.integers(1, 9_999), max_size=3)))
    weights = [end - start for start, end in zip([0, *cuts], [*cuts, 10_000], strict=True)]
    ladders = draw(st.lists(st.sampled_from(ARMS), min_size=len(weights), max_size=len(weights)))
    splits = [{"weight": w, "ladder": [arm, "cpu"]} for w, arm in zip(weights, ladders, strict=True)]
    for split in splits[1:]:
        split.update({"explore": True} if draw(st.booleans()) else {})
    return {"salt": "app.m", "hash": "murmur3-32/1", "splits": splits}


@st.composite
def models(draw: st.DrawFn, mark: str) -> dict[str, Any]:
    whens = draw(st.lists(st.sampled_from(WHENS), max_size=2, unique_by=str))
    named = [*({"when": when, "plan": f"p{place}"} for place, when in enumerate(whens)), {"when": {}, "plan": "main"}]
    arms = {arm: {"file": f"{mark}:{arm}"} for arm in (*ARMS, "cpu")}
    return {
        "situations": named,
        "plans": {situation["plan"]: draw(plans()) for situation in named},
        "arms": arms,
        "because": [mark],
    }


def document(model: dict[str, Any] | None) -> dict[str, Any]:
    return {"app": "app", "models": {} if model is None else {"m": model}}


def plan_at(model: dict[str, Any], workload: str, heat: str) -> dict[str, Any]:
    def holds(when: dict[str, Any]) -> bool:
        hot = "thermal_at_least" not in when or HEAT.index(heat) >= HEAT.index(when["thermal_at_least"])
        return hot and when.get("workload", workload) == workload

    return model["plans"][next(s["plan"] for s in model["situations"] if holds(s["when"]))]  # type: ignore[no-any-return]


def served(model: dict[str, Any], plan: dict[str, Any], bucket: int) -> list[dict[str, Any]]:
    """What a bucket runs, rung by rung: the arms themselves, whatever their keys are."""
    at = choose([split["weight"] for split in plan["splits"]], bucket)
    assert at is not None
    return [model["arms"][key] for key in plan["splits"][at]["ladder"]]


@given(models("old"), models("new"), st.integers(1, 9_000), st.integers(0, 9_999), st.sampled_from(MOMENTS))
def test_every_bucket_runs_what_one_of_the_two_gives_it(
    control: dict[str, Any], candidate: dict[str, Any], share_bp: int, bucket: int, moment: tuple[str, str]
) -> None:
    both = staged(document(control), document(candidate), share_bp)["models"]["m"]
    side = candidate if bucket < share_bp else control
    assert served(both, plan_at(both, *moment), bucket) == served(side, plan_at(side, *moment), bucket)


@given(models("old"), models("new"), st.integers(1, 8_999), st.integers(0, 9_999), st.sampled_from(MOMENTS))
def test_a_raised_share_moves_only_those_it_takes_in(
    control: dict[str, Any], candidate: dict[str, Any], share_bp: int, bucket: int, moment: tuple[str, str]
) -> None:
    now, later = (staged(document(control), document(candidate), bp)["models"]["m"] for bp in (share_bp, 9_000))
    before, after = (served(model, plan_at(model, *moment), bucket) for model in (now, later))
    assert before == after or share_bp <= bucket < 9_000


@given(models("old"), models("new"), st.integers(1, 9_000))
def test_the_client_reads_it_and_puts_nobody_without_a_unit_into_a_trial(
    control: dict[str, Any], candidate: dict[str, Any], share_bp: int
) -> None:
    model = staged(document(control), document(candidate), share_bp)["models"]["m"]
    whole = {"schema": 1, "app": "app", "release": 2, "expires_at": "2030-01-01T00:00:00Z", "models": {"m": model}}
    read = parse_document(json.dumps(whole).encode())
    plan = choose_plan(Standing(Reason.FRESH, read), {"m": {"cpu": {}}}, "m", Circumstances("burst"), None)
    only_trials = all(split.get("explore") for split in plan_at(model, "burst", "none")["splits"])
    assert only_trials or all(parted(rung.arm_id)[1] is None for rung in plan.ladder)


def test_a_class_that_the_candidate_changes_nothing_for_keeps_its_document() -> None:
    control = document({"situations": [], "plans": {}, "arms": {}, "because": ["old"]})
    candidate = document({"situations": [], "plans": {}, "arms": {}, "because": ["new"]})
    assert staged(control, candidate, 500) == control


def test_a_model_of_one_side_alone_stays_as_the_control_has_it() -> None:
    model = {"situations": [], "plans": {}, "arms": {}, "because": []}
    assert staged(document(model), document(None), 500) == document(model)
    assert staged(document(None), document(model), 500) == document(None)


@pytest.mark.parametrize("side", [None, *Side])
def test_a_key_is_parted_into_what_it_was_made_from(side: Side | None) -> None:
    assert parted(keyed("int8.tflite.nnapi.mtk-neuron_shim", side)) == ("int8.tflite.nnapi.mtk-neuron_shim", side)


def test_two_files_of_one_arm_stand_side_by_side() -> None:
    facts, policy = make_fingerprint(), make_document(exploration_bp=1_000)
    docs = []
    for size in (1_000, 2_000):
        variants = [make_variant("int8", size_bytes=size), make_variant("fp32", size_bytes=size)]
        decided = decide(facts, policy, [make_model(variants=variants)], Knowledge())
        docs.append(to_wire(decided, policy, 1, policy_time()))
    both = staged(docs[0], docs[1], 2_500)["models"]["segmentation"]
    assert sum(split["weight"] for split in both["plans"]["main"]["splits"]) == 10_000
    lead, *_ = both["plans"]["main"]["splits"]
    assert (lead["weight"], lead["explore"]) == (2_500, True)
    arm, side = parted(lead["ladder"][0])
    assert side is Side.CANDIDATE
    assert both["arms"][keyed(arm, side)]["variant"]["size_bytes"] == 2_000
    assert both["arms"][arm]["variant"]["size_bytes"] == 1_000
    assert both["because"][-1]["rollout_bp"] == 2_500


def policy_time() -> Any:
    from datetime import UTC, datetime

    return datetime(2026, 5, 1, tzinfo=UTC)
