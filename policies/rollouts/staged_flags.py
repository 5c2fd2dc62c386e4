"""A plain flag in a rollout: units whose bucket lies below the share get the candidate's, as with the arms of a model.

The bucket is the flag's own, the one that its splits are drawn by: a raised share keeps whoever is in. No guardrail
reads what a flag does, as clients do not report it.
"""

from __future__ import annotations

from dataclasses import replace

from policies.assign import bucket
from policies.evaluation import Evaluated, flag_key
from policies.flag_evaluation import Caller, evaluate_flag
from policies.flags import Flag
from policies.rollouts.staging import Side


def evaluate_staged(
    app: str, name: str, control: Flag, candidate: Flag | None, share_bp: int, caller: Caller, release: int
) -> Evaluated:
    """The flag for this caller, its side in the metadata where that is the candidate's. `share_bp` of 10,000 units.

    Without a unit, and where only one side has the flag, it stays as the control has it. Raises TargetingKeyMissing as
    `evaluate_flag` does.
    """
    unit_id = caller.moment.unit_id
    if candidate is None or candidate == control or unit_id is None:
        return evaluate_flag(app, name, control, caller, release)
    if bucket(flag_key(app, name), unit_id) >= share_bp:
        return evaluate_flag(app, name, control, caller, release)
    found = evaluate_flag(app, name, candidate, caller, release)
    return replace(found, metadata={**found.metadata, "side": Side.CANDIDATE})
