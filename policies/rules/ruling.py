"""Rules of a document, asked about one model: the first that holds, and can choose, does."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from policies.arm import Arm
from policies.language import Outcome
from policies.model import ModelSpec
from policies.plans import Offer, Plan, plan_of
from policies.rules.inquiry import Inquiry
from policies.rules.scope import Scope
from policies.rules.standing import ReadyRule
from policies.rules.tried import Fate, TriedRule
from policies.situation import Situation


class Ruling:
    """The rules for one model and the arms it may run. `tried` grows while plans are asked for."""

    def __init__(self, rules: Sequence[ReadyRule], model: ModelSpec, arms: Mapping[str, Arm], inquiry: Inquiry) -> None:
        self.tried: list[TriedRule] = []
        self._rules = [ready for ready in rules if ready.rule.concerns(model.name)]
        self._model = model
        self._arms = arms
        self._inquiry = inquiry
        self._not_asked = iter(self._rules)
        self._holding: list[tuple[ReadyRule, Collection[str]]] = []

    def plan(self, offer: Offer) -> Plan | None:
        """What the rules choose for the workload and situation; None where none does."""
        for ready, among in self._that_hold():
            rule = ready.rule
            if not rule.applies(offer.situation):
                continue
            plan = plan_of(rule.use, offer, among, rule.id)
            if plan is not None:
                self.tried.append(TriedRule(rule.id, Fate.CHOSE, offer.workload, situation=offer.situation))
                return plan
            why = _why(rule.use)
            self.tried.append(TriedRule(rule.id, Fate.PASSED_OVER, offer.workload, why, situation=offer.situation))
        return None

    @property
    def situations(self) -> tuple[Situation, ...]:
        """Situations that rules about the model name, in the order of the rules."""
        return tuple(dict.fromkeys(ready.rule.situation for ready in self._rules if ready.rule.situation))

    def _that_hold(self) -> Iterator[tuple[ReadyRule, Collection[str]]]:
        """The rules that hold, each with the arms that it holds for; the later ones are asked only when it comes to it."""
        yield from tuple(self._holding)
        for ready in self._not_asked:
            among = self._holds_for(ready)
            if among:
                self._holding.append((ready, among))
                yield ready, among

    def _holds_for(self, ready: ReadyRule) -> Collection[str]:
        if ready.scope is Scope.ARM:
            answers = self._about_arms[ready.rule.id]
            among: Collection[str] = [arm for arm, answer in answers.items() if answer.holds]
            unknown = tuple(dict.fromkeys(fact for answer in answers.values() for fact in answer.unknown))
        else:
            answer = self._inquiry.ask(ready.condition, ready.scope, self._model)
            among = self._arms if answer.holds else ()
            unknown = answer.unknown
        if not among:
            self.tried.append(TriedRule(ready.rule.id, Fate.UNKNOWN if unknown else Fate.NOT_MATCHED, unknown=unknown))
        return among

    @cached_property
    def _about_arms(self) -> Mapping[str, Mapping[str, Outcome]]:
        """Rule → arm → answer, for all rules about arms: arm after arm, because turning to another is what costs."""
        asked = [ready for ready in self._rules if ready.scope is Scope.ARM]
        answers: dict[str, dict[str, Outcome]] = {ready.rule.id: {} for ready in asked}
        for name, arm in self._arms.items():
            for ready in asked:
                answers[ready.rule.id][name] = self._inquiry.ask(ready.condition, ready.scope, self._model, arm)
        return answers


def _why(use: object) -> str:
    return "nothing was learned of these arms yet" if isinstance(use, str) else "no arm that it names may run here"
