"""From a document and a moment to a plan: which ladder, with what chance, and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from nnfleet_client.assign import HASH_NAME, AssignedBy, Assignment, assign
from nnfleet_client.document import FULL_WEIGHT_BP, Arm, DecisionDocument, ModelDecision, PlanShares, Split
from nnfleet_client.errors import InvalidDefaultError, UnknownModelError
from nnfleet_client.situations import Circumstances, matching_plan
from nnfleet_client.store import Reason, Standing

DEFAULT_PLAN: Final = "default"
NO_RELEASE: Final = 0

Defaults = Mapping[str, Mapping[str, Arm]]


@dataclass(frozen=True, slots=True)
class Rung:
    """One arm of a ladder: its id and its settings, as the document gives them."""

    arm_id: str
    arm: Arm


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer to "how do I run this model now", with its why.

    `ladder` is in order of trial; its last rung always works. `propensity` is the chance (0…1) that this split was
    the one served: its weight out of 10,000, and 1 where nothing was drawn (no unit id, bundled default).
    `release` is 0 for the bundled default. `error_code` says what stands in the way of a better answer, if
    anything does.
    """

    model: str
    name: str
    ladder: tuple[Rung, ...]
    propensity: float
    reason: Reason
    release: int
    assigned_by: AssignedBy
    split_index: int = 0
    bucket: int | None = None
    explore: bool = False
    error_code: str | None = None
    splits: tuple[Split, ...] = ()
    golden: Mapping[str, Any] | None = None

    def served_propensity(self, arm_id: str, passed_over: Collection[str]) -> float:
        """The chance that this arm was served, given the arms that this phone had to pass over.

        A share whose first arms were passed over moves to its next one, so the arm's chance is the sum of all
        splits that end at it; without the moved shares every off-policy estimate would be biased.
        """
        if self.assigned_by not in {AssignedBy.BUCKET, AssignedBy.SINGLE_SPLIT}:
            return self.propensity
        weight_bp = sum(split.weight_bp for split in self.splits if _first_left(split, passed_over) == arm_id)
        return weight_bp / FULL_WEIGHT_BP


def check_defaults(default: Defaults) -> Defaults:
    """A frozen copy of the bundled default. Raises InvalidDefaultError where a model has no arm."""
    if not default or any(not arms for arms in default.values()):
        raise InvalidDefaultError("a bundled default names at least one model, and an arm for each")
    return MappingProxyType(
        {
            model: MappingProxyType({arm_id: MappingProxyType(dict(arm)) for arm_id, arm in arms.items()})
            for model, arms in default.items()
        }
    )


def choose(standing: Standing, default: Defaults, model: str, now: Circumstances, unit_id: str | None) -> Plan:
    """The plan for a model at this moment: from the document if it may be used and says, else the bundled default.

    Codes that lead to the default: those of the store's standing, `unknown-model`, `no-situation`, `unknown-hash`
    (a hash this client does not have, where a draw is needed). Raises UnknownModelError where the default does not
    know the model either.
    """
    if standing.document is None:
        return default_plan(default, model, standing.error_code)
    decision = standing.document.models.get(model)
    if decision is None:
        return default_plan(default, model, "unknown-model")
    name = matching_plan(decision.situations, now)
    if name is None:
        return default_plan(default, model, "no-situation")
    shares = decision.plans[name]
    if not _assigns(shares):
        return default_plan(default, model, "unknown-hash")
    assignment = assign(shares.splits, shares.salt, unit_id)
    return _plan(standing, standing.document, decision, model, name, assignment)


def _assigns(shares: PlanShares) -> bool:
    return shares.hash_name == HASH_NAME or any(split.weight_bp == FULL_WEIGHT_BP for split in shares.splits)


def _plan(
    standing: Standing,
    document: DecisionDocument,
    decision: ModelDecision,
    model: str,
    name: str,
    assignment: Assignment,
) -> Plan:
    splits = decision.plans[name].splits
    split = splits[assignment.split_index]
    drawn = assignment.assigned_by is not AssignedBy.NO_UNIT
    return Plan(
        model=model,
        name=name,
        ladder=tuple(Rung(arm_id, decision.arms[arm_id]) for arm_id in split.ladder),
        propensity=split.weight_bp / FULL_WEIGHT_BP if drawn else 1.0,
        reason=standing.reason,
        release=document.release,
        assigned_by=assignment.assigned_by,
        split_index=assignment.split_index,
        bucket=assignment.bucket,
        explore=split.explore,
        error_code=standing.error_code,
        splits=splits,
        golden=decision.golden,
    )


def default_plan(default: Defaults, model: str, error_code: str | None) -> Plan:
    """The bundled default as a plan. Raises UnknownModelError where it does not know the model."""
    if model not in default:
        raise UnknownModelError(model)
    return Plan(
        model=model,
        name=DEFAULT_PLAN,
        ladder=tuple(Rung(arm_id, arm) for arm_id, arm in default[model].items()),
        propensity=1.0,
        reason=Reason.DEFAULT,
        release=NO_RELEASE,
        assigned_by=AssignedBy.DEFAULT,
        error_code=error_code,
    )


def _first_left(split: Split, passed_over: Collection[str]) -> str:
    return next((arm_id for arm_id in split.ladder if arm_id not in passed_over), split.ladder[-1])
