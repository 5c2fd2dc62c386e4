"""Plans: who gets which ladder. From the learned ranking, by the out-of-the-box rule, or as a rule states them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from policies.arm import Arm
from policies.default_rule import NOT_USED, Placed
from policies.document import PolicyDocument
from policies.fingerprint import Fingerprint
from policies.first_exploration import first_explored
from policies.knowledge import WHOLE_BP, ArmShare, Ranking
from policies.model import ModelSpec
from policies.rules.globs import matching
from policies.rules.rule import HandOver, StatedSplit, UseLadder, UseSplit
from policies.situation import Situation
from policies.vocabulary import Delegate, Workload


class Rule(StrEnum):
    """What chose the ladder."""

    LEARNED = "learned"
    OUT_OF_THE_BOX = "out-of-the-box"
    STATED = "stated"


@dataclass(frozen=True, slots=True)
class Split:
    """A ladder and the share of units that get it. Propensity of the split is `weight_bp` / 10,000."""

    weight_bp: int
    ladder: tuple[str, ...]
    explore: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Splits for one situation. They sum to 10,000; the growing one stands first; the salt never changes.

    `by` is the id of the operator's rule that chose, or handed over to what did; None where no rule did. `situation` is
    None where the plan holds whatever the moment is like.
    """

    workload: Workload
    salt: str
    splits: tuple[Split, ...]
    rule: Rule
    evidence: Mapping[str, int | float]
    by: str | None = None
    situation: Situation | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """What a plan is made from: the arms that may run, best guess first, and what was learned of them."""

    document: PolicyDocument
    model: ModelSpec
    facts: Fingerprint
    workload: Workload
    placed: Sequence[Placed]
    ranking: Ranking
    situation: Situation | None = None
    arms: Mapping[str, Arm] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", {p.arm.id: p.arm for p in self.placed})

    @property
    def salt(self) -> str:
        """What units are drawn with. Never changes: another salt would draw the whole fleet anew."""
        return f"{self.model.app}.{self.model.name}"

    def learned_first(self, *, all_arms: bool = False) -> list[str]:
        """Arm ids in the learned order, then in the out-of-the-box order, which leaves out what it would not use."""
        order = [row.arm for row in self.ranking.ranked]
        return order + [p.arm.id for p in self.placed if p.arm.id not in order and (all_arms or p.tier != NOT_USED)]


def unruled_plan(offer: Offer) -> Plan | None:
    """What is chosen where no rule does: the learned ranking, and where there is none the out-of-the-box rule."""
    return learned_plan(offer) or default_plan(offer)


def learned_plan(offer: Offer) -> Plan | None:
    """The learned order first, then what it does not name; None where nothing was learned of these arms."""
    ranked = offer.ranking.ranked
    if not ranked:
        return None
    evidence = {"n": sum(row.n for row in ranked), "expected_ms": ranked[0].expected_ms, "sd_log": ranked[0].sd_log}
    splits = _splits(offer, offer.learned_first(), offer.ranking.shares)
    return Plan(offer.workload, offer.salt, splits, Rule.LEARNED, evidence)


def default_plan(offer: Offer) -> Plan | None:
    """The out-of-the-box order, and a share for arms that differ where the policy has a budget; None without arms."""
    placed, document, facts = offer.placed, offer.document, offer.facts
    if not placed:
        return None
    order = [p.arm.id for p in placed if p.tier != NOT_USED] or [p.arm.id for p in placed]
    shares: list[ArmShare] = []
    if facts.learnable and document.exploration_bp:
        explored = first_explored(placed, order[0], f"{facts.device_class}:{offer.model.name}")
        shares = [ArmShare(arm, document.exploration_bp // len(explored), explore=True) for arm in explored]
    lead_bp = WHOLE_BP - sum(share.weight_bp for share in shares)
    splits = _splits(offer, order, [ArmShare(order[0], lead_bp), *shares])
    return Plan(offer.workload, offer.salt, splits, Rule.OUT_OF_THE_BOX, {"n": 0})


HANDED_TO: Final = {"learned": learned_plan, "out-of-the-box": default_plan}


def plan_of(use: HandOver | UseLadder | UseSplit, offer: Offer, among: Collection[str], by: str) -> Plan | None:
    """What the rule called `by` chooses; None where it cannot: nothing was learned, or no arm it names may run.

    What it states is made of the arms in `among`, and of the CPU, which comes last.
    """
    if isinstance(use, str):
        handed = HANDED_TO[use](offer)
        return replace(handed, by=by) if handed else None
    stated = use.split if isinstance(use, UseSplit) else (StatedSplit(weight_bp=WHOLE_BP, ladder=use.ladder),)
    splits = _stated_splits(stated, offer, among)
    return Plan(offer.workload, offer.salt, splits, Rule.STATED, {}, by) if splits else None


def _stated_splits(stated: Iterable[StatedSplit], offer: Offer, among: Collection[str]) -> tuple[Split, ...]:
    """The stated splits that have an arm here. The share of one that has none moves to the first: propensity with it."""
    order = offer.learned_first(all_arms=True)
    splits: list[Split] = []
    lost_bp = 0
    for part in stated:
        ladder = _stated_ladder(
            part.ladder, [arm for arm in order if arm in among], _cpu(order, offer.arms), offer.arms
        )
        if ladder and (offer.facts.learnable or not part.explore):
            splits.append(Split(part.weight_bp, ladder, part.explore))
        else:
            lost_bp += part.weight_bp
    if splits:
        splits[0] = replace(splits[0], weight_bp=splits[0].weight_bp + lost_bp)
    return tuple(split for split in splits if split.weight_bp > 0)


def _stated_ladder(
    globs: Iterable[str], order: Sequence[str], cpu: str | None, arms: Mapping[str, Arm]
) -> tuple[str, ...]:
    """The best arm of each glob, up to the first on the CPU, which always works; empty where no glob has one."""
    ladder: list[str] = []
    for glob in globs:
        best = next((arm for arm in matching((glob,), order) if arm not in ladder), None)
        if best is not None:
            ladder.append(best)
            if arms[best].delegate is Delegate.CPU:
                return tuple(ladder)
    return (*ladder, cpu) if ladder and cpu else tuple(ladder)


def _splits(offer: Offer, order: Sequence[str], shares: Iterable[ArmShare]) -> tuple[Split, ...]:
    """One split an arm that leads. The share of an arm that is gone moves to the best one: its propensity with it."""
    weights: dict[str, int] = {order[0]: 0}
    explore: dict[str, bool] = {order[0]: False}
    for share in shares:
        arm = share.arm if share.arm in offer.arms else order[0]
        weights[arm] = weights.get(arm, 0) + share.weight_bp
        explore.setdefault(arm, share.explore)
    weights[order[0]] += WHOLE_BP - sum(weights.values())
    rungs = offer.document.ladder_rungs
    return tuple(
        Split(weight_bp, _ladder(arm, order, offer.arms, rungs), explore[arm])
        for arm, weight_bp in weights.items()
        if weight_bp > 0
    )


def _ladder(lead: str, order: Sequence[str], arms: Mapping[str, Arm], rungs: int) -> tuple[str, ...]:
    """The lead, then the best arms that fail for other reasons (another delegate or accelerator), the CPU last."""
    cpu = _cpu(order, arms)
    if arms[lead].delegate is Delegate.CPU:
        return (lead,)
    ladder, used = [lead], {_fails_together(arms[lead]), _ON_CPU}
    for arm in order:
        if len(ladder) < rungs - (cpu is not None) and _fails_together(arms[arm]) not in used:
            ladder.append(arm)
            used.add(_fails_together(arms[arm]))
    return (*ladder, cpu) if cpu else tuple(ladder)


def _cpu(order: Iterable[str], arms: Mapping[str, Arm]) -> str | None:
    return next((arm for arm in order if arms[arm].delegate is Delegate.CPU), None)


_ON_CPU: Final = (Delegate.CPU, "")


def _fails_together(arm: Arm) -> tuple[str, str]:
    return arm.delegate, arm.accelerator.name if arm.accelerator else ""
