"""decide(fingerprint, document, models, knowledge) → Decision: for every model of an app, ladders with their why.

Order of force: what cannot run is not offered; what would break the accuracy budget, was seen to fail, or is denied is
taken away (deny beats all); of what is left the learned ranking chooses, and where there is none the out-of-the-box
rule does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from policies.arm import Arm, ModelSpec, executable_arms
from policies.arm_coverage import arm_coverages
from policies.default_rule import NOT_USED, ArmCoverage, Placed, place
from policies.document import PolicyDocument
from policies.fingerprint import Fingerprint
from policies.first_exploration import first_explored
from policies.knowledge import NOTHING_LEARNED, WHOLE_BP, ArmShare, Knowledge, Ranking
from policies.vocabulary import Delegate, Workload


class Rule(StrEnum):
    """What chose the ladder."""

    LEARNED = "learned"
    OUT_OF_THE_BOX = "out-of-the-box"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line of an explanation: what happened to an arm, and why. `code` is stable."""

    arm: str
    code: str
    because: str


@dataclass(frozen=True, slots=True)
class Split:
    """A ladder and the share of units that get it. Propensity of the split is `weight_bp` / 10,000."""

    weight_bp: int
    ladder: tuple[str, ...]
    explore: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Splits for one situation. They sum to 10,000; the growing one stands first; the salt never changes."""

    workload: Workload
    salt: str
    splits: tuple[Split, ...]
    rule: Rule
    evidence: Mapping[str, int | float]


@dataclass(frozen=True, slots=True)
class ModelDecision:
    """Plans of one model, the arms they name, what is expected of them, and the verdict on every arm."""

    model: ModelSpec
    plans: tuple[Plan, ...]
    arms: Mapping[str, Arm]
    expected_ms: Mapping[tuple[Workload, str], float]
    coverage: Mapping[str, ArmCoverage]
    verdicts: tuple[Verdict, ...]
    denied_by: tuple[str, ...]

    def plan(self, workload: Workload) -> Plan:
        """The plan a client picks for the workload."""
        return next((p for p in self.plans if p.workload is workload), self.plans[0])


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer for one device and one app. `advice` is text an app can show or log."""

    app: str
    fingerprint: Fingerprint
    models: tuple[ModelDecision, ...]
    advice: tuple[str, ...]


def decide(
    fingerprint: Fingerprint, document: PolicyDocument, models: Iterable[ModelSpec], knowledge: Knowledge
) -> Decision:
    """The decision for all models of an app. Pure and total: the same values give the same answer."""
    decided = tuple(decide_model(fingerprint, document, model, knowledge) for model in models)
    return Decision(document.app, fingerprint, tuple(d for d in decided if d.plans), _advice(fingerprint))


def decide_model(
    fingerprint: Fingerprint, document: PolicyDocument, model: ModelSpec, knowledge: Knowledge
) -> ModelDecision:
    """The decision for one model; without plans where no variant can run on the device at all."""
    arms = {arm.id: arm for arm in executable_arms(fingerprint, model)}
    refused, denied_by = _refused(arms.values(), fingerprint, document, model)
    allowed = {arm_id: arm for arm_id, arm in arms.items() if arm_id not in refused}
    coverage = arm_coverages(allowed.values())
    placed = place(allowed.values(), model, fingerprint, coverage, document.thresholds)
    verdicts = [*refused.values(), *(Verdict(p.arm.id, _TIER_CODES[p.tier], p.because) for p in placed)]
    plans: list[Plan] = []
    expected: dict[tuple[Workload, str], float] = {}
    for workload in Workload:
        ranking = knowledge.ranking(model.name, workload) or NOTHING_LEARNED
        usable = [p for p in placed if p.arm.id not in ranking.excluded]
        offered = _offered(ranking, usable, fingerprint)
        expected |= {(workload, r.arm): r.expected_ms for r in ranking.ranked}
        verdicts += [Verdict(arm, "excluded", f"{workload}: {why}") for arm, why in ranking.excluded.items()]
        plan = (
            _learned_plan(offered, usable, document, model, workload)
            if offered.ranked
            else _default_plan(usable, document, model, workload, fingerprint)
        )
        if plan is not None and not any(plan.splits == other.splits for other in plans):
            plans.append(plan)
    return ModelDecision(model, tuple(plans), allowed, expected, coverage, tuple(verdicts), denied_by)


_TIER_CODES: Final = ("leads", "cuts-affordable", "cpu", "gpu", "not-used")


def _refused(
    arms: Iterable[Arm], fingerprint: Fingerprint, document: PolicyDocument, model: ModelSpec
) -> tuple[dict[str, Verdict], tuple[str, ...]]:
    """Arms taken away, each with its verdict; and the denies that did it, the narrowest first."""
    refused: dict[str, Verdict] = {}
    denied_by: dict[str, None] = {}
    denies = sorted(document.denies, key=lambda d: (d.cohort.width, d.id))
    for arm in arms:
        deny = next((d for d in denies if d.hits(fingerprint, model.name, arm)), None)
        if deny is not None:
            refused[arm.id] = Verdict(arm.id, "denied", f"{deny.id}: {deny.reason}")
            denied_by[deny.id] = None
        elif not model.within_budget(arm.variant):
            detail = f"accuracy drops by {arm.variant.accuracy_drop}, at most {model.max_accuracy_drop} is allowed"
            refused[arm.id] = Verdict(arm.id, "accuracy-budget", detail)
    return refused, tuple(denied_by)


def _offered(ranking: Ranking, placed: Sequence[Placed], fingerprint: Fingerprint) -> Ranking:
    """What of a ranking this device can have. Nothing is explored where nothing is learned from."""
    names = {p.arm.id for p in placed}
    ranked = tuple(r for r in ranking.ranked if r.arm in names)
    shares = tuple(share for share in ranking.shares if fingerprint.learnable or not share.explore)
    return replace(ranking, ranked=ranked, shares=shares)


def _learned_plan(
    ranking: Ranking, placed: Sequence[Placed], document: PolicyDocument, model: ModelSpec, workload: Workload
) -> Plan:
    """The learned order first, then what it does not name in the out-of-the-box order."""
    arms = {p.arm.id: p.arm for p in placed}
    order = [r.arm for r in ranking.ranked]
    order += [p.arm.id for p in placed if p.arm.id not in order and p.tier != NOT_USED]
    lead = ranking.ranked[0]
    evidence = {"n": sum(r.n for r in ranking.ranked), "expected_ms": lead.expected_ms, "sd_log": lead.sd_log}
    splits = _splits(order, arms, ranking.shares, document)
    return Plan(workload, _salt(model), splits, Rule.LEARNED, evidence)


def _default_plan(
    placed: Sequence[Placed], document: PolicyDocument, model: ModelSpec, workload: Workload, fingerprint: Fingerprint
) -> Plan | None:
    if not placed:
        return None
    arms = {p.arm.id: p.arm for p in placed}
    order = [p.arm.id for p in placed if p.tier != NOT_USED] or [p.arm.id for p in placed]
    shares: list[ArmShare] = []
    if fingerprint.learnable and document.exploration_bp:
        explored = first_explored(placed, order[0], f"{fingerprint.device_class}:{model.name}")
        shares = [ArmShare(arm, document.exploration_bp // len(explored), explore=True) for arm in explored]
    lead_bp = WHOLE_BP - sum(share.weight_bp for share in shares)
    splits = _splits(order, arms, [ArmShare(order[0], lead_bp), *shares], document)
    return Plan(workload, _salt(model), splits, Rule.OUT_OF_THE_BOX, {"n": 0})


def _salt(model: ModelSpec) -> str:
    # Never changes: another salt would draw the whole fleet anew.
    return f"{model.app}.{model.name}"


def _splits(
    order: Sequence[str], arms: Mapping[str, Arm], shares: Iterable[ArmShare], document: PolicyDocument
) -> tuple[Split, ...]:
    """One split an arm that leads. The share of an arm that is gone moves to the best one: its propensity with it."""
    weights: dict[str, int] = {order[0]: 0}
    explore: dict[str, bool] = {order[0]: False}
    for share in shares:
        arm = share.arm if share.arm in arms else order[0]
        weights[arm] = weights.get(arm, 0) + share.weight_bp
        explore.setdefault(arm, share.explore)
    weights[order[0]] += WHOLE_BP - sum(weights.values())
    return tuple(
        Split(weight_bp, _ladder(arm, order, arms, document.ladder_rungs), explore[arm])
        for arm, weight_bp in weights.items()
        if weight_bp > 0
    )


def _ladder(lead: str, order: Sequence[str], arms: Mapping[str, Arm], rungs: int) -> tuple[str, ...]:
    """The lead, then the best arms that fail for other reasons (another delegate or accelerator), the CPU last."""
    cpu = next((a for a in order if arms[a].delegate is Delegate.CPU), None)
    if arms[lead].delegate is Delegate.CPU:
        return (lead,)
    ladder, used = [lead], {_fails_together(arms[lead]), _CPU}
    for arm in order:
        if len(ladder) < rungs - (cpu is not None) and _fails_together(arms[arm]) not in used:
            ladder.append(arm)
            used.add(_fails_together(arms[arm]))
    return (*ladder, cpu) if cpu else tuple(ladder)


_CPU: Final = (Delegate.CPU, "")


def _fails_together(arm: Arm) -> tuple[str, str]:
    return arm.delegate, arm.accelerator.name if arm.accelerator else ""


def _advice(fingerprint: Fingerprint) -> tuple[str, ...]:
    return tuple(_ADVICE[a.code] for a in fingerprint.anomalies if a.code in _ADVICE)


_ADVICE: Final = {
    "driver-switched-off": "The phone has an accelerator, but its driver lists none that works: restart the phone or install its system update.",
}
