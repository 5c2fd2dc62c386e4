"""What the fleet has taught, as a release carries it."""

from __future__ import annotations

import json

import pytest

from policies.knowledge import NOTHING_LEARNED, ArmShare, Knowledge, RankedArm, Ranking
from policies.vocabulary import Workload

RANKING = Ranking(
    (RankedArm("int8.tflite.cpu", 4.25, 0.1, 30), RankedArm("fp32.tflite.gpu", 8.5, 0.2, 12)),
    (ArmShare("int8.tflite.cpu", 9_800), ArmShare("fp32.tflite.gpu", 200, explore=True)),
    {"fp16.tflite.gpu": "golden check failed"},
)


def test_a_ranking_reads_back_what_it_writes() -> None:
    assert Ranking.from_json(json.loads(json.dumps(RANKING.to_json()))) == RANKING


@pytest.mark.parametrize("weights", [(-1,), (10_001,), (4_000, 4_000, 4_000), (150, -50)])
def test_shares_that_are_no_parts_of_a_whole_are_refused(weights: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="10000"):
        Ranking((), tuple(ArmShare(f"arm-{i}", weight_bp) for i, weight_bp in enumerate(weights)))


def test_thirds_can_be_said() -> None:
    shares = tuple(ArmShare(f"arm-{i}", weight_bp) for i, weight_bp in enumerate((3_333, 3_333, 3_334)))
    assert Ranking((), shares).shares == shares


def test_sustained_work_is_never_answered_from_bursts() -> None:
    knowledge = Knowledge({"segmentation": {Workload.BURST: RANKING}})
    assert knowledge.ranking("segmentation", Workload.BURST) is RANKING
    assert knowledge.ranking("segmentation", Workload.SUSTAINED) is None
    assert knowledge.ranking("another", Workload.BURST) is None
    assert NOTHING_LEARNED.ranked == ()
