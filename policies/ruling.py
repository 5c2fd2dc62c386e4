"""Rules of a document, asked about one model: the first that holds, and can choose, does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from policies.arm import Arm, ModelSpec
from policies.inquiry import ARM_ROOTS, Inquiry
from policies.language import Outcome
from policies.plans import Offer, Plan, plan_of
from policies.standing import ReadyRule
from policies.tried import Fate, TriedRule


class Ruling:
    """The rules for one model and the arms it may run. `tried` grows while plans are asked for."""

    def __init__(self, rules: Iterable[ReadyRule], model: ModelSpec, arms: Mapping[str, Arm], inquiry: Inquiry) -> None:
        self.tried: list[TriedRule] = []
        self._rules = [ready for ready in rules if ready.rule.concerns(model.name)]
        self._model = model
        self._arms = arms
        self._inquiry = inquiry
        self._holding: dict[str, Collection[str]] = {}

    def plan(self, offer: Offer) -> Plan | None:
        """What the rules choose for the workload; None where none does."""
        for ready in self._rules:
            rule = ready.rule
            among = self._holds_for(ready)
            if not among:
                continue
            plan = plan_of(rule.use, offer, among, rule.id)
            if plan is not None:
                self.tried.append(TriedRule(rule.id, Fate.CHOSE, offer.workload))
                return plan
            self.tried.append(TriedRule(rule.id, Fate.PASSED_OVER, offer.workload, _why(rule.use)))
        return None

    def _holds_for(self, ready: ReadyRule) -> Collection[str]:
        """The arms that the rule holds for; none where it does not hold."""
        name = ready.rule.id
        if name not in self._holding:
            answers = self._ask(ready)
            self._holding[name] = [arm for arm, answer in answers.items() if answer.holds]
            if not self._holding[name]:
                unknown = tuple(dict.fromkeys(fact for answer in answers.values() for fact in answer.unknown))
                self.tried.append(TriedRule(name, Fate.UNKNOWN if unknown else Fate.NOT_MATCHED, unknown=unknown))
        return self._holding[name]

    def _ask(self, ready: ReadyRule) -> Mapping[str, Outcome]:
        if ARM_ROOTS.isdisjoint(ready.condition.roots):
            return dict.fromkeys(self._arms, self._inquiry.ask(ready.condition, self._model))
        return {name: self._inquiry.ask(ready.condition, self._model, arm) for name, arm in self._arms.items()}


def _why(use: object) -> str:
    return "nothing was learned of these arms yet" if isinstance(use, str) else "no arm that it names may run here"
