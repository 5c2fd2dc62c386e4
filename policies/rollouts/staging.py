"""Two decisions in one document: units whose bucket lies below a share get the candidate's, the others keep the control's.

For every bucket the staged plan gives exactly the split that one of the two plans gives that bucket: nobody moves but
those whom a raised share takes in, and whoever is in stays in. The document stays one for a whole class, cacheable, and
the draw stays on the device.

A device reports the arm it ran by the key that the document gave it. Keys of the candidate's arms carry a side, so that
telemetry tells the two apart; the control's arms keep their names, so that nothing changes for those who wait. Who
explores is in neither side of the comparison: explorers run other arms on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from policies.vocabulary import ThermalStatus

WHOLE_BP: Final = 10_000
_HEAT: Final = list(ThermalStatus)
COMPARED: Final = ("situations", "plans", "arms")
"""Parts of a model's decision: where all are equal there is nothing to try."""


class Side(StrEnum):
    """Whose arm a key names; the control's own arms have no side. In telemetry: never rename one."""

    CANDIDATE = "candidate"
    CANDIDATE_EXPLORE = "candidate-explore"
    EXPLORE = "explore"


def keyed(arm_id: str, side: Side | None) -> str:
    """The key of an arm in a staged document."""
    return arm_id if side is None else f"{arm_id}+{side}"


def parted(key: str) -> tuple[str, Side | None]:
    """(arm id, side) of a key."""
    arm_id, plus, side = key.partition("+")
    return arm_id, Side(side) if plus else None


def staged(control: Mapping[str, Any], candidate: Mapping[str, Any], share_bp: int) -> dict[str, Any]:
    """The document that holds both. A model that only one of the two has stays as the control has it.

    `share_bp`: units out of 10,000 that get the candidate.
    """
    models = {
        name: _model(model, candidate["models"][name], share_bp) if name in candidate["models"] else model
        for name, model in control["models"].items()
    }
    return {**control, "models": models}


def _model(control: Mapping[str, Any], candidate: Mapping[str, Any], share_bp: int) -> Mapping[str, Any]:
    if all(control[part] == candidate[part] for part in COMPARED):
        return control
    situations: list[dict[str, Any]] = []
    plans: dict[str, Any] = {}
    arms: dict[str, Any] = {}
    for when, new, old in _situations(candidate, control):
        name = plan_of_both(old, new)
        if any(when == earlier["when"] for earlier in situations):
            continue
        situations.append({"when": when, "plan": name})
        plans[name] = _plan(control["plans"][old], candidate["plans"][new], share_bp)
        arms |= _arms(plans[name], control["arms"], candidate["arms"])
    because = [*control["because"], {"rollout_bp": share_bp, "candidate": candidate["because"]}]
    return {**control, "situations": situations, "plans": plans, "arms": dict(sorted(arms.items())), "because": because}


def plan_of_both(control: str, candidate: str) -> str:
    """What the staged document calls the plan that holds these two."""
    return control if control == candidate else f"{control}.{candidate}"


def _situations(candidate: Mapping[str, Any], control: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """(conditions, candidate's plan, control's plan), so that the first that matches names both first matches."""
    for new in candidate["situations"]:
        for old in control["situations"]:
            when = _both(new["when"], old["when"])
            if when is not None:
                yield when, new["plan"], old["plan"]


def _both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any] | None:
    """Conditions that hold where both do, None where that is never. Of two heats, the higher holds both."""
    joined = {**one, **other}
    for name in one.keys() & other.keys():
        if name.endswith("_at_least"):
            joined[name] = max(one[name], other[name], key=_HEAT.index)
        elif one[name] != other[name]:
            return None
    return joined


def _plan(control: Mapping[str, Any], candidate: Mapping[str, Any], share_bp: int) -> dict[str, Any]:
    splits = [
        *_cut(candidate["splits"], 0, share_bp, Side.CANDIDATE, Side.CANDIDATE_EXPLORE),
        *_cut(control["splits"], share_bp, WHOLE_BP, None, Side.EXPLORE),
    ]
    return {**control, "splits": splits}


def _cut(
    splits: list[dict[str, Any]], first: int, upto: int, side: Side | None, exploring: Side
) -> Iterator[dict[str, Any]]:
    """The parts of the splits that lie in the buckets from `first` up to and without `upto`."""
    start = 0
    for split in splits:
        end = start + split["weight"]
        weight = min(end, upto) - max(start, first)
        start = end
        if weight > 0:
            named = exploring if split.get("explore") else side
            row = {"weight": weight, "ladder": [keyed(arm, named) for arm in split["ladder"]]}
            # A trial, like exploring: without a unit id nobody is put into it.
            yield row if named is None else row | {"explore": True}


def _arms(plan: Mapping[str, Any], control: Mapping[str, Any], candidate: Mapping[str, Any]) -> dict[str, Any]:
    """What the keys of a staged plan stand for."""
    keys = {key for split in plan["splits"] for key in split["ladder"]}
    found = {}
    for key in keys:
        arm_id, side = parted(key)
        found[key] = (candidate if side in {Side.CANDIDATE, Side.CANDIDATE_EXPLORE} else control)[arm_id]
    return found
