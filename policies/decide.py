"""decide(fingerprint, document, models, knowledge) → Decision: for every model of an app, ladders with their why.

Order of force: what cannot run is not offered; what would break the accuracy budget, was seen to fail, or is denied is
taken away (deny beats all); of what is left the first rule that holds chooses, or hands over; where none does the
learned ranking chooses, and where there is none the out-of-the-box rule does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from policies.arm import Arm, executable_arms
from policies.arm_coverage import arm_coverages
from policies.asked import Moment
from policies.default_rule import ArmCoverage, Placed, place
from policies.document import PolicyDocument
from policies.fingerprint import Fingerprint
from policies.knowledge import NOTHING_LEARNED, Knowledge, Ranking
from policies.model import ModelSpec
from policies.plans import Offer, Plan, unruled_plan
from policies.rules.inquiry import Inquiry
from policies.rules.refusals import Refusals, Verdict, refusals
from policies.rules.ruling import Ruling
from policies.rules.run_options import NOTHING_APPLIED, Applied, applied
from policies.rules.tried import TriedDeny, TriedRule
from policies.situation import Situation
from policies.vocabulary import Workload

NO_REQUEST: Final[Mapping[str, Any]] = MappingProxyType({})
"""A decision that is made ahead of any request: what conditions ask of one is unknown."""


@dataclass(frozen=True, slots=True)
class ModelDecision:
    """Plans of one model, the arms they name, what is expected of them, and the verdict on every arm.

    `rules` and `denies` are those that were asked, with what became of them; `settings` what arms are run with.
    """

    model: ModelSpec
    plans: tuple[Plan, ...]
    arms: Mapping[str, Arm]
    expected_ms: Mapping[tuple[Workload, str], float]
    coverage: Mapping[str, ArmCoverage]
    verdicts: tuple[Verdict, ...]
    denied_by: tuple[str, ...]
    rules: tuple[TriedRule, ...] = ()
    denies: tuple[TriedDeny, ...] = ()
    settings: Applied = NOTHING_APPLIED

    def plan(self, moment: Moment) -> Plan:
        """The plan a client picks in that moment: the first whose situation holds, else that of the workload."""
        fitting = [p for p in self.plans if p.situation is None or p.situation.holds(moment)]
        ranked = sorted(fitting, key=lambda p: p.situation is None)
        return next((p for p in ranked if p.workload is moment.workload), self.plans[0])


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer for one device and one app. `advice` is text an app can show or log."""

    app: str
    fingerprint: Fingerprint
    models: tuple[ModelDecision, ...]
    advice: tuple[str, ...]


def decide(
    fingerprint: Fingerprint,
    document: PolicyDocument,
    models: Iterable[ModelSpec],
    knowledge: Knowledge,
    request: Mapping[str, Any] = NO_REQUEST,
) -> Decision:
    """The decision for all models of an app. Pure and total: the same values give the same answer."""
    inquiry = Inquiry(fingerprint, knowledge, request, document.standing.named)
    decided = tuple(_decide(fingerprint, document, model, knowledge, inquiry) for model in models)
    return Decision(document.app, fingerprint, tuple(d for d in decided if d.plans), _advice(fingerprint))


def decide_model(
    fingerprint: Fingerprint,
    document: PolicyDocument,
    model: ModelSpec,
    knowledge: Knowledge,
    request: Mapping[str, Any] = NO_REQUEST,
) -> ModelDecision:
    """The decision for one model; without plans where no variant can run on the device at all."""
    inquiry = Inquiry(fingerprint, knowledge, request, document.standing.named)
    return _decide(fingerprint, document, model, knowledge, inquiry)


def _decide(
    facts: Fingerprint, document: PolicyDocument, model: ModelSpec, knowledge: Knowledge, inquiry: Inquiry
) -> ModelDecision:
    arms = {arm.id: arm for arm in executable_arms(facts, model)}
    taken = refusals(arms.values(), facts, document.standing, model, inquiry)
    allowed = {arm_id: arm for arm_id, arm in arms.items() if arm_id not in taken.refused}
    coverage = arm_coverages(allowed.values())
    placed = place(allowed.values(), model, facts, coverage, document.thresholds)
    ruling = Ruling(document.standing.rules, model, allowed, inquiry)
    rankings = {workload: knowledge.ranking(model.name, workload) or NOTHING_LEARNED for workload in Workload}
    offers = []
    for workload, ranking in rankings.items():
        usable = [p for p in placed if p.arm.id not in ranking.excluded]
        offers.append(Offer(document, model, facts, workload, usable, _offered(ranking, usable, facts)))
    return ModelDecision(
        model=model,
        plans=_plans(offers, ruling),
        arms=allowed,
        expected_ms={(workload, row.arm): row.expected_ms for workload, r in rankings.items() for row in r.ranked},
        coverage=coverage,
        verdicts=_verdicts(taken, placed, rankings),
        denied_by=taken.denied_by,
        rules=tuple(ruling.tried),
        denies=taken.tried,
        settings=applied(document.standing.settings, allowed.values(), model, inquiry),
    )


def _plans(offers: Sequence[Offer], ruling: Ruling) -> tuple[Plan, ...]:
    """The main plan first, then those that differ from it: by workload, then by situation in the order of the rules."""
    usual = [(offer, plan) for offer in offers if (plan := ruling.plan(offer) or unruled_plan(offer)) is not None]
    plans: list[Plan] = []
    for _, plan in usual:
        if not any(plan.splits == other.splits for other in plans):
            plans.append(plan)
    found = [_by_situation(offer, plan, ruling) for offer, plan in usual]
    return (*plans, *(row[s] for s in ruling.situations for row in found if s in row))


def _by_situation(offer: Offer, usual: Plan, ruling: Ruling) -> dict[Situation, Plan]:
    """Plans of a workload for the situations that rules name, up to the last that differs from the usual one.

    One that does not differ still stands before those after it: its rule comes first, also where both hold.
    """
    found: dict[Situation, Plan] = {}
    for situation in ruling.situations:
        if situation.allows(offer.workload):
            plan = ruling.plan(replace(offer, situation=situation)) or usual
            found[situation] = replace(plan, situation=situation)
    while found and found[last := next(reversed(found))].splits == usual.splits:
        del found[last]
    return found


_TIER_CODES: Final = ("leads", "cuts-affordable", "cpu", "gpu", "not-used")


def _verdicts(taken: Refusals, placed: Iterable[Placed], rankings: Mapping[Workload, Ranking]) -> tuple[Verdict, ...]:
    """Every line about every arm: refused, undecided, placed, excluded."""
    return (
        *taken.refused.values(),
        *taken.undecided,
        *(Verdict(p.arm.id, _TIER_CODES[p.tier], p.because) for p in placed),
        *(
            Verdict(arm, "excluded", f"{workload}: {why}")
            for workload, ranking in rankings.items()
            for arm, why in ranking.excluded.items()
        ),
    )


def _offered(ranking: Ranking, placed: Sequence[Placed], fingerprint: Fingerprint) -> Ranking:
    """What of a ranking this device can have. Nothing is explored where nothing is learned from."""
    names = {p.arm.id for p in placed}
    ranked = tuple(r for r in ranking.ranked if r.arm in names)
    shares = tuple(share for share in ranking.shares if fingerprint.learnable or not share.explore)
    return replace(ranking, ranked=ranked, shares=shares)


def _advice(fingerprint: Fingerprint) -> tuple[str, ...]:
    return tuple(_ADVICE[a.code] for a in fingerprint.anomalies if a.code in _ADVICE)


_ADVICE: Final = {
    "driver-switched-off": "The phone has an accelerator, but its driver lists none that works: restart the phone or install its system update.",
}
