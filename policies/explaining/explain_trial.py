"""An explanation while a candidate is tried: one unit gets what one of two decisions gives its bucket, as documents do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from policies.explaining.explain import Explanation, SplitLine, Trial
from policies.knowledge import WHOLE_BP
from policies.rollouts.staging import COMPARED, Side, plan_of_both
from policies.wire import model_json, plan_name


def in_trial(control: Explanation, candidate: Explanation, share_bp: int) -> Explanation:
    """What the unit gets while `share_bp` of 10,000 units get the candidate. Without a unit id nobody is put into it.

    The splits are those of the staged document (`policies.rollouts.staging`), and so are their chances.
    """
    if control.plan is None or candidate.plan is None or control.bucket is None or _parts(control) == _parts(candidate):
        return control
    lines = (
        *_cut(candidate, 0, share_bp, Side.CANDIDATE, Side.CANDIDATE_EXPLORE),
        *_cut(control, share_bp, WHOLE_BP, None, Side.EXPLORE),
    )
    served = next(index for index, line in enumerate(lines) if line.last_bucket >= control.bucket)
    name = plan_of_both(plan_name(control.decided, control.plan), plan_name(candidate.decided, candidate.plan))
    mine = candidate if control.bucket < share_bp else control
    return replace(mine, splits=lines, chosen=served, trial=Trial(lines[served].side, share_bp, name))


def _parts(made: Explanation) -> list[Any]:
    told = model_json(made.decided, made.facts)
    return [told[part] for part in COMPARED]


def _cut(made: Explanation, first: int, upto: int, side: Side | None, exploring: Side) -> Iterator[SplitLine]:
    """The parts of the splits that lie in the buckets from `first` up to and without `upto`."""
    for line in made.splits:
        low, high = max(line.first_bucket, first), min(line.last_bucket, upto - 1)
        if low <= high:
            cut = replace(line.split, weight_bp=high - low + 1)
            yield SplitLine(cut, low, high, exploring if line.split.explore else side)
